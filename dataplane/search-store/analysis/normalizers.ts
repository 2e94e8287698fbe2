/** Normalizers of keyword fields: a value is indexed, found and grouped as they leave it. */

/** By name; those that an index defines itself are refused. */
export const NORMALIZERS: ReadonlyMap<string, (text: string) => string> = new Map([['lowercase', lowercase]])

/** Each character by itself, as Java has them: a text keeps its number of characters. */
function lowercase(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase()
  return Array.from(text, character => {
    const lower = character.toLowerCase()
    return [...lower].length === 1 ? lower : [...lower][0]!
  }).join('')
}

export const normalized = (text: string, normalizer: string | undefined): string =>
  normalizer === undefined ? text : NORMALIZERS.get(normalizer)!(text)
