/** The passages of a text that highlights show: sentences around what is marked, as Lucene's unified highlighter cuts them. */

export interface Span {
  readonly start: number
  readonly end: number
}

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORDS = new Intl.Segmenter('en', { granularity: 'word' })

/** For the starts of what is marked, ascending. A passage is as many whole sentences as fit into `maxLength`, or a part of one that does not. */
export function passagesOf(text: string, marks: readonly number[], maxLength: number): readonly Span[] {
  const passages: Span[] = []
  const sentences = boundsOf(SENTENCES, text)
  let words: readonly number[] | undefined
  /** The sentence, or run of them, that the passage before was cut from. */
  let window: Span = { start: -1, end: -1 }
  let end = 0
  for (const mark of marks) {
    if (mark < end) continue
    // What is left of the window, or the sentences from the one that holds the mark.
    const isWithin = mark + 1 > window.start && mark + 1 < window.end
    const whole: Span = isWithin ? { start: end, end: window.end } : sentencesAround(sentences, mark + 1, maxLength)
    if (!isWithin) window = whole
    words ??= boundsOf(WORDS, text)
    const part = whole.end - whole.start > maxLength ? partOf(whole, mark + 1, words, maxLength) : whole
    const start = Math.max(part.start, end)
    end = Math.max(end, part.end)
    passages.push({ start, end })
  }
  return passages
}

function sentencesAround(bounds: readonly number[], offset: number, maxLength: number): Span {
  const last = bounds.at(-1)!
  const start = before(bounds, offset)
  const target = offset + Math.max(0, maxLength - (offset - start))
  const end = target + 1 > last ? last : before(bounds, target + 1)
  return { start, end: end === start ? after(bounds, target) : end }
}

/** Of a sentence that is too long: from some way before the mark to some way after it, at the ends of words. */
function partOf({ start: first, end: last }: Span, offset: number, words: readonly number[], maxLength: number): Span {
  const start = offset - maxLength > first ? Math.max(first, before(words, offset - maxLength)) : first
  const left = Math.max(0, maxLength - (offset - start))
  return { start, end: offset + left < last ? Math.min(last, after(words, offset + left)) : last }
}

/** Starts of segments, and the end of the last. */
function boundsOf(segmenter: Intl.Segmenter, text: string): readonly number[] {
  const bounds = Array.from(segmenter.segment(text), ({ index }) => index)
  bounds.push(text.length)
  return bounds
}

const before = (bounds: readonly number[], offset: number): number => bounds.findLast(bound => bound < offset) ?? 0

const after = (bounds: readonly number[], offset: number): number => bounds.find(bound => bound > offset) ?? bounds.at(-1)!
