/** Makes text of strangers fit: limits in code points, never half of what a reader sees as one character. */

/** How far back a cut looks for the start of a character that is put together of several code points. */
const LOOK_BACK = 64
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The text, or its start with `…` for the rest: at most `max` code points. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  let index = 0
  let last = 0
  let points = 0
  for (const point of text) {
    if (++points > max) return `${text.slice(0, startOfCharacter(text, last))}…`
    if (points === max) last = index
    index += point.length
  }
  return text
}

/** The start of the character that `index` lies in. */
function startOfCharacter(text: string, index: number): number {
  const from = Math.max(0, index - LOOK_BACK)
  return from + (characters.segment(text.slice(from, index + LOOK_BACK)).containing(index - from)?.index ?? index - from)
}

export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const UNTITLED = 'An incident without a title'

/** The title of an incident on one line. */
export const titleOf = (title: string): string => oneLine(title) || UNTITLED

/** The same for a field that takes `max` code points. */
export const titleWithin = (title: string, max: number): string => cutText(titleOf(title), max)

const TERMINAL_CODES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g
/** Control characters but tab and line feed; those that turn the direction of text around. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Without colours of terminals, control characters and halves of surrogate pairs; line feeds alone end lines. */
export function cleanText(text: string): string {
  return text.replaceAll(TERMINAL_CODES, '').replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll(INVISIBLE, '').toWellFormed()
}

/** On one line. */
export function oneLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, ' ').trim()
}
