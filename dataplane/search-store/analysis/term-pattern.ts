/** Tests on single terms: prefixes, wildcards, ranges of text. All take time linear in the term, times a 32nd of the pattern's length at worst. */
import { spendWork } from '../query/budget/work-in-hand.ts'
import { compareTexts } from './compare-texts.ts'

export interface TermPattern {
  /** Equal for patterns that the same terms fit; absent where nobody asks. */
  readonly text?: string
  /** Every term that fits starts with this. */
  readonly prefix: string
  /** Every term that starts with this fits, and no other; absent where that cannot be said of one text. */
  readonly wholePrefix?: string
  /** Every term that fits holds this, but for the case of its letters. */
  readonly literal: string
  test(term: string): boolean
}

export function prefixPattern(prefix: string, caseInsensitive: boolean): TermPattern {
  if (!caseInsensitive)
    return { text: `prefix ${prefix}`, prefix, wholePrefix: prefix, literal: prefix, test: term => term.startsWith(prefix) }
  const lower = prefix.toLowerCase()
  return { text: `any case prefix ${lower}`, prefix: '', literal: lower, test: term => term.toLowerCase().startsWith(lower) }
}

export function equalIgnoringCase(values: readonly string[]): TermPattern {
  const lower = new Set(values.map(value => value.toLowerCase()))
  return { prefix: '', literal: '', test: term => lower.has(term.toLowerCase()) }
}

/** A character, `?` or `*`. */
type Step = { readonly kind: 'char'; readonly char: string } | { readonly kind: 'one' } | { readonly kind: 'many' }

/** `*` any run of characters, `?` one, a backslash takes the next one literally. */
function stepsOf(pattern: string): readonly Step[] {
  const steps: Step[] = []
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    if (char === '\\' && at + 1 < chars.length) steps.push({ kind: 'char', char: chars[++at]! })
    else if (char === '?') steps.push({ kind: 'one' })
    else if (char !== '*') steps.push({ kind: 'char', char })
    else if (steps.at(-1)?.kind !== 'many') steps.push({ kind: 'many' })
  }
  return steps
}

export function wildcardPattern(pattern: string, { caseInsensitive = false } = {}): TermPattern {
  const steps = stepsOf(caseInsensitive ? pattern.toLowerCase() : pattern)
  let prefix = ''
  for (const step of steps) {
    if (step.kind !== 'char') break
    prefix += step.char
  }
  const matches = steps.some(step => step.kind === 'one') ? wildcardTest(steps) : starTest(steps)
  return {
    text: `${caseInsensitive ? 'any case ' : ''}wildcard ${pattern}`,
    prefix: caseInsensitive ? '' : prefix,
    ...(!caseInsensitive && steps.length === prefix.length + 1 && steps.at(-1)!.kind === 'many' && { wholePrefix: prefix }),
    literal: longestLiteral(steps),
    test: term => {
      spendWork(term.length)
      const text = caseInsensitive ? term.toLowerCase() : term
      return text.startsWith(prefix) && matches(text)
    },
  }
}

function longestLiteral(steps: readonly Step[]): string {
  let longest = ''
  let current = ''
  for (const step of steps) {
    current = step.kind === 'char' ? current + step.char : ''
    if (current.length > longest.length) longest = current
  }
  return longest
}

/** The runs of steps between the `*`; one run without any. */
function runsOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const runs: Step[][] = [[]]
  for (const step of steps) {
    if (step.kind === 'many') runs.push([])
    else runs.at(-1)!.push(step)
  }
  return runs
}

const textOf = (run: readonly Step[]): string => run.map(step => (step.kind === 'char' ? step.char : '')).join('')

/** Without `?`: each text between two `*` is taken where it comes first. */
function starTest(steps: readonly Step[]): (term: string) => boolean {
  const texts = runsOf(steps).map(textOf)
  const first = texts[0]!
  if (texts.length === 1) return term => term === first
  const last = texts.at(-1)!
  const between = texts.slice(1, -1)
  return term => {
    const end = term.length - last.length
    if (end < first.length || !term.startsWith(first) || !term.endsWith(last)) return false
    let at = first.length
    for (const text of between) {
      const found = term.indexOf(text, at)
      if (found < 0) return false
      at = found + text.length
    }
    return at <= end
  }
}

type Codes = Uint32Array

let scratch = new Uint32Array(1024)

/** The characters of a term; until the next call. */
function codesOf(term: string): Codes {
  if (scratch.length < term.length) scratch = new Uint32Array(term.length)
  let count = 0
  for (let at = 0; at < term.length; at++) {
    const code = term.codePointAt(at)!
    scratch[count++] = code
    if (code > 0xffff) at++
  }
  return scratch.subarray(0, count)
}

/** With `?`, which stands for a whole character. */
function wildcardTest(steps: readonly Step[]): (term: string) => boolean {
  const runs = runsOf(steps).map(run => new Run(run))
  const first = runs[0]!
  const last = runs.at(-1)!
  const between = runs.slice(1, -1)
  return term => {
    const codes = codesOf(term)
    if (runs.length === 1) return codes.length === first.length && first.isAt(codes, 0)
    const end = codes.length - last.length
    if (end < first.length || !first.isAt(codes, 0) || !last.isAt(codes, end)) return false
    let at = first.length
    for (const run of between) {
      at = run.endIn(codes, at)
      if (at < 0) return false
    }
    return at <= end
  }
}

const ANY_CHARACTER = -1

/** Characters and `?` in a row. Found in a text by the bits of all the beginnings of it that end at a character (Shift-And). */
class Run {
  readonly length: number
  readonly #codes: readonly number[]
  readonly #words: number
  readonly #any: Uint32Array
  readonly #masks = new Map<number, Uint32Array>()
  readonly #state: Uint32Array

  constructor(run: readonly Step[]) {
    this.#codes = run.map(step => (step.kind === 'char' ? step.char.codePointAt(0)! : ANY_CHARACTER))
    this.length = run.length
    this.#words = (run.length + 31) >>> 5
    this.#any = new Uint32Array(this.#words)
    this.#state = new Uint32Array(this.#words)
    for (const [at, code] of this.#codes.entries()) if (code === ANY_CHARACTER) this.#any[at >>> 5]! |= 1 << (at & 31)
    for (const [at, code] of this.#codes.entries()) {
      if (code === ANY_CHARACTER) continue
      const mask = this.#masks.get(code) ?? Uint32Array.from(this.#any)
      mask[at >>> 5]! |= 1 << (at & 31)
      this.#masks.set(code, mask)
    }
  }

  isAt(codes: Codes, at: number): boolean {
    return this.#codes.every((code, k) => code === ANY_CHARACTER || code === codes[at + k])
  }

  /** Just behind the first place from `from` on; −1 without one. */
  endIn(codes: Codes, from: number): number {
    if (this.length === 0) return from
    const state = this.#state
    state.fill(0)
    const last = this.#words - 1
    const done = (1 << ((this.length - 1) & 31)) >>> 0
    for (let at = from; at < codes.length; at++) {
      const mask = this.#masks.get(codes[at]!) ?? this.#any
      let carry = 1
      for (let word = 0; word <= last; word++) {
        const before = state[word]!
        state[word] = ((before << 1) | carry) & mask[word]!
        carry = before >>> 31
      }
      if ((state[last]! & done) !== 0) return at + 1
      spendWork(last)
    }
    return -1
  }
}

export interface TextBounds {
  readonly min: string | undefined
  readonly max: string | undefined
  readonly includeMin: boolean
  readonly includeMax: boolean
}

/** Terms between two others, in the order of their UTF-16 units. */
export function textRangePattern(bounds: TextBounds): TermPattern {
  const { min, max, includeMin, includeMax } = bounds
  return {
    prefix: '',
    literal: '',
    test: term => {
      const low = min === undefined ? 1 : compareTexts(term, min)
      if (low < 0 || (low === 0 && !includeMin)) return false
      const high = max === undefined ? -1 : compareTexts(term, max)
      return high < 0 || (high === 0 && includeMax)
    },
  }
}
