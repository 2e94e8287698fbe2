/** Undoes percent-encoding. A text that is not percent-encoded throughout is meant as it stands. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
