/** The syntax of Lucene's regular expressions, which always fit whole terms. Intersection, complement, number ranges and `#` are refused by name. */
import { illegalArgument, unsupported } from '../api-error.ts'

/** Ranges of code points, ascending, apart from each other. */
export type CharacterSet = readonly (readonly [from: number, to: number])[]

export type RegexNode =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence' | 'either'; readonly of: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly of: RegexNode; readonly min: number; readonly max: number }

/** As in OpenSearch (`index.max_regex_length`). */
const MAX_REGEX_LENGTH = 1_000
/** The greatest number in `{n,m}`: more than the states that an expression may take. */
const MAX_REPEAT = 10_000
const LAST_CODE = 0x10ffff

/** Flags by name: operators that only they make one. All of them but the complement are on by default. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  INTERSECTION: ['&'],
  COMPLEMENT: ['~'],
  EMPTY: ['#'],
  ANYSTRING: ['@'],
  INTERVAL: ['<'],
  AUTOMATON: ['<'],
  NONE: [],
  ALL: ['&', '#', '@', '<'],
}

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['&', 'intersection'],
  ['~', 'complement'],
  ['#', 'empty language'],
  ['<', 'range of numbers'],
])

const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: [[0x30, 0x39]],
  s: [
    [0x09, 0x0a],
    [0x0d, 0x0d],
    [0x20, 0x20],
  ],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
}
const ANY: CharacterSet = [[0, LAST_CODE]]
const EMPTY: RegexNode = { kind: 'sequence', of: [] }

/** Throws 400. */
export function parseRegularExpression(text: string, options: { readonly caseInsensitive: boolean; readonly flags: string }): RegexNode {
  if (text.length > MAX_REGEX_LENGTH)
    throw illegalArgument(
      `The length of regex [${text.length}] used in the Regexp Query request has exceeded the allowed maximum of [${MAX_REGEX_LENGTH}]. ` +
        'This maximum can be set by changing the [index.max_regex_length] index level setting.',
    )
  return new RegexParser([...text], operatorsOf(options.flags), options.caseInsensitive).parse()
}

/** The operators that flags such as `INTERVAL|ANYSTRING` turn on. Throws 400. */
export function operatorsOf(flags: string): ReadonlySet<string> {
  const names = flags === '' ? ['ALL'] : flags.toUpperCase().split('|')
  return new Set(
    names.flatMap(name => {
      if (!Object.hasOwn(FLAGS, name)) throw illegalArgument(`Unknown regexp flag [${name}]`)
      return FLAGS[name]!
    }),
  )
}

class RegexParser {
  readonly #chars: readonly string[]
  readonly #operators: ReadonlySet<string>
  readonly #ignoresCase: boolean
  #at = 0

  constructor(chars: readonly string[], operators: ReadonlySet<string>, ignoresCase: boolean) {
    this.#chars = chars
    this.#operators = operators
    this.#ignoresCase = ignoresCase
  }

  parse(): RegexNode {
    if (this.#chars.length === 0) return EMPTY
    const node = this.#either()
    if (this.#at < this.#chars.length) throw illegalArgument(`end-of-string expected at position ${this.#at}`)
    return node
  }

  get #char(): string | undefined {
    return this.#chars[this.#at]
  }

  #accept(char: string): boolean {
    if (this.#char !== char) return false
    this.#at++
    return true
  }

  #next(): string {
    const char = this.#char
    if (char === undefined) throw illegalArgument('unexpected end-of-string')
    this.#at++
    return char
  }

  #expect(char: string): void {
    if (!this.#accept(char)) throw illegalArgument(`expected '${char}' at position ${this.#at}`)
  }

  #either(): RegexNode {
    const of = [this.#sequence()]
    while (this.#accept('|')) of.push(this.#sequence())
    return of.length === 1 ? of[0]! : { kind: 'either', of }
  }

  /** Reads at least one part. An operator where a part is due stands for itself. */
  #sequence(): RegexNode {
    const of = [this.#repeated()]
    while (this.#char !== undefined && this.#char !== ')' && this.#char !== '|') {
      this.#refuse('&')
      of.push(this.#repeated())
    }
    return of.length === 1 ? of[0]! : { kind: 'sequence', of }
  }

  #refuse(char: string): void {
    if (this.#char === char && this.#operators.has(char))
      throw unsupported(`operator [${char}] (${REFUSED.get(char)}) of a regular expression, unless a backslash stands before it,`)
  }

  #repeated(): RegexNode {
    let of = this.#part()
    for (;;) {
      if (this.#accept('?')) of = { kind: 'repeat', of, min: 0, max: 1 }
      else if (this.#accept('*')) of = { kind: 'repeat', of, min: 0, max: Number.POSITIVE_INFINITY }
      else if (this.#accept('+')) of = { kind: 'repeat', of, min: 1, max: Number.POSITIVE_INFINITY }
      else if (this.#accept('{')) of = { kind: 'repeat', of, ...this.#counts() }
      else return of
    }
  }

  #counts(): { readonly min: number; readonly max: number } {
    const min = this.#count()
    let max = min
    if (this.#accept(',')) max = this.#char === '}' ? Number.POSITIVE_INFINITY : this.#count()
    this.#expect('}')
    if (min > max) throw illegalArgument(`invalid repetition range(out of order): ${min}..${max}`)
    return { min, max }
  }

  #count(): number {
    let digits = ''
    while (/^\d$/.test(this.#char ?? '')) digits += this.#next()
    if (digits === '') throw illegalArgument(`integer expected at position ${this.#at}`)
    return Math.min(MAX_REPEAT, Number(digits))
  }

  #part(): RegexNode {
    for (const char of REFUSED.keys()) this.#refuse(char)
    if (this.#accept('.')) return { kind: 'set', set: ANY }
    if (this.#operators.has('@') && this.#accept('@'))
      return { kind: 'repeat', of: { kind: 'set', set: ANY }, min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#accept('"')) return this.#quoted()
    if (this.#accept('(')) {
      if (this.#accept(')')) return EMPTY
      const node = this.#either()
      this.#expect(')')
      return node
    }
    if (this.#accept('[')) return this.#bracket()
    return { kind: 'set', set: this.#classOrChar() }
  }

  #quoted(): RegexNode {
    const of: RegexNode[] = []
    while (this.#char !== undefined && this.#char !== '"') of.push({ kind: 'set', set: this.#charSet(this.#next()) })
    this.#expect('"')
    return { kind: 'sequence', of }
  }

  #bracket(): RegexNode {
    const isNegated = this.#accept('^')
    const ranges = [...this.#bracketItem()]
    while (this.#char !== undefined && this.#char !== ']') ranges.push(...this.#bracketItem())
    this.#expect(']')
    return { kind: 'set', set: isNegated ? complementOf(ranges) : joined(ranges) }
  }

  #bracketItem(): CharacterSet {
    const known = this.#knownClass()
    if (known !== undefined) return known
    const from = this.#escaped()
    if (!this.#accept('-')) return this.#charSet(from)
    const to = this.#escaped()
    const [first, last] = [from.codePointAt(0)!, to.codePointAt(0)!]
    if (first > last) throw illegalArgument(`invalid range: from (${first}) cannot be > to (${last})`)
    return this.#ignoresCase ? withOtherCase([[first, last]]) : [[first, last]]
  }

  #classOrChar(): CharacterSet {
    return this.#knownClass() ?? this.#charSet(this.#escaped())
  }

  /** `\d` and the like. Other letters may not be escaped. */
  #knownClass(): CharacterSet | undefined {
    const letter = this.#char === '\\' ? this.#chars[this.#at + 1] : undefined
    if (letter === undefined || !/^[A-Za-z]$/.test(letter)) return undefined
    const set = Object.hasOwn(CLASSES, letter.toLowerCase()) ? CLASSES[letter.toLowerCase()] : undefined
    if (set === undefined) throw illegalArgument(`invalid character class \\${letter}`)
    this.#at += 2
    return letter === letter.toLowerCase() ? set : complementOf(set)
  }

  #escaped(): string {
    this.#accept('\\')
    return this.#next()
  }

  #charSet(char: string): CharacterSet {
    const code = char.codePointAt(0)!
    return this.#ignoresCase ? withOtherCase([[code, code]]) : [[code, code]]
  }
}

/** Ranges beyond have no letters of both cases that matter. */
const MAX_CASED_RANGE = 2_048

function withOtherCase(ranges: CharacterSet): CharacterSet {
  const all: (readonly [number, number])[] = [...ranges]
  for (const [from, to] of ranges) {
    if (to - from > MAX_CASED_RANGE) continue
    for (let code = from; code <= to; code++) {
      const char = String.fromCodePoint(code)
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const otherCode = other.codePointAt(0)!
        if ([...other].length === 1 && otherCode !== code) all.push([otherCode, otherCode])
      }
    }
  }
  return joined(all)
}

function joined(ranges: CharacterSet): CharacterSet {
  const result: [number, number][] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

function complementOf(ranges: CharacterSet): CharacterSet {
  const result: [number, number][] = []
  let from = 0
  for (const [first, last] of joined(ranges)) {
    if (first > from) result.push([from, first - 1])
    from = last + 1
  }
  if (from <= LAST_CODE) result.push([from, LAST_CODE])
  return result
}
