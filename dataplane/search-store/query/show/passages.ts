/** The passages of a text that highlights show: sentences around what is marked, as Lucene's unified highlighter cuts them. */

export interface Span {
  readonly start: number
  readonly end: number
}

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORDS = new Intl.Segmenter('en', { granularity: 'word' })

/** For the starts of what is marked, ascending. A passage is as many whole sentences as fit into `maxLength`, or a part of one that does not. */
export function* passagesOf(text: string, marks: readonly number[], maxLength: number): Generator<Span, void, undefined> {
  const sentences = new Bounds(SENTENCES, text)
  const words = new Bounds(WORDS, text)
  /** The sentence, or run of them, that the passage before was cut from. */
  let window: Span = { start: -1, end: -1 }
  let end = 0
  for (const mark of marks) {
    if (mark < end) continue
    // The rest of the window, or the sentences from the one that holds the mark.
    const isWithin = mark + 1 > window.start && mark + 1 < window.end
    const whole: Span = isWithin ? { start: end, end: window.end } : sentencesAround(sentences, mark + 1, maxLength)
    if (!isWithin) window = whole
    const part = whole.end - whole.start > maxLength ? partOf(whole, mark + 1, words, maxLength) : whole
    const start = Math.max(part.start, end)
    end = Math.max(end, part.end)
    yield { start, end }
  }
}

function sentencesAround(bounds: Bounds, offset: number, maxLength: number): Span {
  const { last } = bounds
  const start = bounds.before(offset)
  const target = offset + Math.max(0, maxLength - (offset - start))
  const end = target + 1 > last ? last : bounds.before(target + 1)
  return { start, end: end === start ? bounds.after(target) : end }
}

/** The part of too long a sentence around the mark: begins and ends between words. */
function partOf({ start: first, end: last }: Span, offset: number, words: Bounds, maxLength: number): Span {
  const start = offset - maxLength > first ? Math.max(first, words.before(offset - maxLength)) : first
  const left = Math.max(0, maxLength - (offset - start))
  return { start, end: offset + left < last ? Math.min(last, words.after(offset + left)) : last }
}

/** Starts of segments, and the end of the last; found where they are asked for, not all of them. */
class Bounds {
  readonly last: number
  readonly #segments: Intl.Segments
  #segment: Span = { start: 0, end: 0 }

  constructor(segmenter: Intl.Segmenter, text: string) {
    this.#segments = segmenter.segment(text)
    this.last = text.length
  }

  before(offset: number): number {
    if (offset > this.last) return this.last
    return offset <= 0 ? 0 : this.#around(offset - 1).start
  }

  after(offset: number): number {
    return offset >= this.last ? this.last : this.#around(Math.max(0, offset)).end
  }

  /** The segment that holds the character; a long one is not looked for twice. */
  #around(at: number): Span {
    if (at >= this.#segment.start && at < this.#segment.end) return this.#segment
    const { index, segment } = this.#segments.containing(at)!
    this.#segment = { start: index, end: index + segment.length }
    return this.#segment
  }
}
