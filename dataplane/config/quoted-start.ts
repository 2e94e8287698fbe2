const SHOWN_CHARACTERS = 200

/** A text in quotes, as a message shows it; of a long one the first 200 characters. */
export function quotedStart(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return JSON.stringify(text)
  return `${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))} and ${text.length - SHOWN_CHARACTERS} characters more`
}
