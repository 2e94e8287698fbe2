/** The text, or its start with `…` for the rest: at most `maxLength` UTF-16 units, never half a surrogate pair. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`
}
