import { MASK } from './platform-field.ts'

/** Anything shorter would blacken half of a text. */
const MIN_SECRET = 4

/** The text without any of the secrets, as they are and as they stand in an address or in JSON. */
export function redact(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
  // Longer ones first: of one that holds another a part would stay.
  const longestFirst = forms.filter(form => form.length >= MIN_SECRET).sort((a, b) => b.length - a.length)
  return longestFirst.reduce((clean, form) => clean.replaceAll(form, MASK), text)
}
