/** Where the words of a search stand in a text. */

export interface Span {
  readonly text: string
  readonly isMarked: boolean
}

/** Words that are marked. */
const MAX_MARKED_WORDS = 50
const LETTER = '[\\p{L}\\p{N}]'
/** Characters of a message that are looked through. */
const MAX_MARKED_LENGTH = 20_000

/** One expression for all words, in any case; words of a phrase with anything but letters and digits between. Undefined: nothing to mark. */
export function markExpression(words: readonly string[]): RegExp | undefined {
  const parts = words
    .slice(0, MAX_MARKED_WORDS)
    .map(expressionOf)
    .filter(part => part !== '')
    .sort((a, b) => b.length - a.length)
  return parts.length === 0 ? undefined : new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})`, 'giu')
}

/** `*` and `?` of one term: with more a search could take seconds on one message, and is not marked. */
const MAX_WILDCARDS = 3

function expressionOf(words: string): string {
  const parts = (words.replace(/\\(.)/g, '$1').match(/[\p{L}\p{N}*?]+/gu) ?? []).map(part => part.replace(/\*+/g, '*'))
  if (parts.length === 0 || parts.every(part => /^[*?]+$/.test(part)) || parts.join('').split(/[*?]/).length - 1 > MAX_WILDCARDS) return ''
  const text = parts.map(part => part.replaceAll('?', LETTER).replaceAll('*', `${LETTER}{0,40}`)).join('[^\\p{L}\\p{N}]{1,5}')
  return `${text}(?!${LETTER})`
}

export function markWords(text: string, expression: RegExp | undefined): readonly Span[] {
  if (expression === undefined || text === '') return [{ text, isMarked: false }]
  const spans: Span[] = []
  let end = 0
  for (const match of text.slice(0, MAX_MARKED_LENGTH).matchAll(expression)) {
    if (match[0] === '') continue
    if (match.index > end) spans.push({ text: text.slice(end, match.index), isMarked: false })
    end = match.index + match[0].length
    spans.push({ text: match[0], isMarked: true })
  }
  if (end < text.length) spans.push({ text: text.slice(end), isMarked: false })
  return spans
}
