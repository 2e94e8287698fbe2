/** How values and names of fields are written in a search, and how text in quotes is read. */

const PLAIN_VALUE = /^[^\s()"\\*?:<>[\]{}/][^\s()"\\*?]*$/
/** A search box has one line. These escapes are those of other query languages. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['\n', 'n'],
  ['\r', 'r'],
  ['\t', 't'],
])
const CONTROLS: ReadonlyMap<string, string> = new Map([...LETTERS].map(([control, letter]) => [letter, control]))

/** `field:value`, or `field:(value OR value)`, as a search reads it. */
export function formatTerm(field: string, ...values: readonly string[]): string {
  const alternatives = values.map(formatValue)
  return `${formatField(field)}:${alternatives.length === 1 ? alternatives[0] : `(${alternatives.join(' OR ')})`}`
}

/** The value in quotes where the search would read it otherwise. */
export function formatValue(value: string): string {
  const isPlain = PLAIN_VALUE.test(value) && !['AND', 'OR', 'NOT'].includes(value)
  return isPlain ? value : `"${value.replace(/["\\\n\r\t]/g, char => `\\${LETTERS.get(char) ?? char}`)}"`
}

/** The name with a backslash before all that a search would not read as part of it. */
export function formatField(field: string): string {
  return field.replace(/[^\p{L}\p{N}_@.\-/]|^[\p{N}.\-/]/gu, '\\$&')
}

/** The text that stands between quotes as it is meant. */
export function unescapeQuoted(inner: string): string {
  return inner.replace(/\\(.)/gs, (_, char: string) => CONTROLS.get(char) ?? char)
}
