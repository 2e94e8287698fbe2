/** Masks of texts that leave the product; the two kinds of secrets that every reader outside is denied alike. */

export interface TextMask {
  readonly what: RegExp
  /** Replaces it; `$1` is what may stay. A function tells of each that was found. */
  readonly by: string | ((found: string) => string)
}

/** Their form alone gives them away, wherever they stand. */
export const KEY_MASKS: readonly TextMask[] = [
  { what: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]{0,40}PRIVATE KEY-----|[\s\S]*)/g, by: '[private key]' },
  // A JWT: its head is JSON in base64. A head alone is found as well, or else each place within it would be tried anew.
  { what: /\beyJ[\w-]{4,}(?:\.[\w-]{4,}(?:\.[\w-]*)?)?/g, by: found => (found.includes('.') ? '[token]' : found) },
]

/** One after the other: the longer and surer ones stand first. */
export function maskText(text: string, masks: readonly TextMask[]): string {
  return masks.reduce((masked, { what, by }) => masked.replace(what, by as string), text)
}
