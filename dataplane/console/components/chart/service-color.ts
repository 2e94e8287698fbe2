/** Hues that an eye tells apart, without the reds, which are for errors. */
const HUES = 11
const FIRST_HUE = 75
const LAST_HUE = 315
/** A middle, a dark and a light tone of each hue: more services than there are hues have colours of their own. */
const TONES = ['48% 55%', '62% 40%', '60% 72%'] as const

/** A colour for CSS, the same for a name wherever it stands. */
export function colorOf(name: string): string {
  let hash = 2_166_136_261
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619)
  // Names that differ in their last letters alone differ in the low bits alone.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
  const hue = FIRST_HUE + Math.round(((hash % HUES) * (LAST_HUE - FIRST_HUE)) / (HUES - 1))
  return `hsl(${hue} ${TONES[(hash >>> 8) % TONES.length]})`
}
