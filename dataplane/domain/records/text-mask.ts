/** Masks of texts that leave the product; the two kinds of secrets that every reader outside is denied alike. */

export interface TextMask {
  readonly what: RegExp
  /** Replaces it; `$1` is what may stay. */
  readonly by: string
}

/** Their form alone gives them away, wherever they stand. */
export const KEY_MASKS: readonly TextMask[] = [
  { what: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]{0,40}PRIVATE KEY-----|[\s\S]*)/g, by: '[private key]' },
  // A JWT: its head is JSON in base64.
  { what: /\beyJ[\w-]{4,}\.[\w-]{4,}(?:\.[\w-]*)?/g, by: '[token]' },
]

/** One after the other: the longer and surer ones stand first. */
export function maskText(text: string, masks: readonly TextMask[]): string {
  return masks.reduce((masked, { what, by }) => masked.replace(what, by), text)
}
