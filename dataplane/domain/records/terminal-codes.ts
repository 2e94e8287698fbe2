/** Codes that colour the text of a terminal; in a pattern holes stand for their numbers. */
const CODES = /\u001b\[(?:[\d;:?]|<\*>)*[A-Za-z]/g

/** A message or pattern as a terminal shows it, in one colour: loggers colour lines for people, who read them elsewhere, too. */
export const withoutTerminalCodes = (text: string): string => (text.includes('\u001b') ? text.replaceAll(CODES, '') : text)
