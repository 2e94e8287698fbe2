/** A hue of 0 to 359, the same for a name wherever it stands. Not from the reds, which are for errors. */
export function hueOf(name: string): number {
  let hash = 2_166_136_261
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619)
  return 70 + ((hash >>> 0) % 250)
}
