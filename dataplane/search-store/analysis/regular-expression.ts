/** Lucene's regular expressions, by an automaton: each character of a term costs at most a look at every state, mostly a look at one. */
import { illegalArgument } from '../api-error.ts'
import { spendWork } from '../query/budget/work-in-hand.ts'
import { type CharacterSet, parseRegularExpression, type RegexNode } from './regex-syntax.ts'
import type { TermPattern } from './term-pattern.ts'

/** States of an expression with its repetitions written out. */
const MAX_REGEX_STATES = 2_000
/** Transitions that are remembered; then they are worked out anew. */
const MAX_REMEMBERED = 262_144
/** Larger sets of states are not remembered: to tell them apart costs more than to work them out. */
const MAX_REMEMBERED_STATES = 64
/** Parts of an expression with its repetitions written out, empty ones too. */
const MAX_PARTS = 100_000

export interface RegexOptions {
  readonly caseInsensitive: boolean
  /** Operators beyond the usual ones, joined by `|`; `ALL` or `NONE`. */
  readonly flags: string
}

/** Throws 400 for what is malformed, too large, or an operator that is not supported. */
export function regexPattern(text: string, options: RegexOptions): TermPattern {
  const node = parseRegularExpression(text, options)
  const automaton = new Automaton(node)
  return { prefix: '', literal: '', test: term => automaton.accepts(term) }
}

/** One more character of the set leads on; without a set both ways are open at once. */
type State = { readonly set: CharacterSet; readonly next: number } | { readonly set: undefined; readonly ways: readonly [number, number] }

/** A set of states, after some characters. */
interface Stand {
  /** States that wait for a character. */
  readonly waiting: readonly number[]
  readonly isEnd: boolean
  /** By class of character. */
  readonly next: (Stand | undefined)[]
}

const ASCII = 128

class Automaton {
  readonly #states: State[] = []
  readonly #end: number
  /** First characters of the classes: characters of a class are in the same sets. */
  readonly #classes: readonly number[]
  readonly #asciiClasses: Uint16Array
  readonly #start: readonly number[]
  /** When a state was last met while a set is put together. */
  readonly #met: Uint32Array
  #round = 0
  #stands = new Map<string, Stand>()
  #parts = 0
  #first: Stand

  constructor(node: RegexNode) {
    this.#end = this.#add({ set: undefined, ways: [-1, -1] })
    const start = this.#compile(node, this.#end)
    const sets = new Set(this.#states.map(({ set }) => set))
    const bounds = [...sets].flatMap(set => set?.flatMap(([from, to]) => [from, to + 1]) ?? [])
    this.#classes = [...new Set([0, ...bounds])].sort((a, b) => a - b)
    this.#asciiClasses = Uint16Array.from({ length: ASCII }, (_, code) => this.#findClass(code))
    this.#met = new Uint32Array(this.#states.length)
    this.#start = [start]
    this.#first = this.#standOf(this.#start)
  }

  #add(state: State): number {
    if (this.#states.length === MAX_REGEX_STATES) throw tooLarge()
    return this.#states.push(state) - 1
  }

  /** The state from which the node leads to `next`. */
  #compile(node: RegexNode, next: number): number {
    if (++this.#parts > MAX_PARTS) throw tooLarge()
    switch (node.kind) {
      case 'set':
        return this.#add({ set: node.set, next })
      case 'sequence':
        return node.of.reduceRight((after, each) => this.#compile(each, after), next)
      case 'either':
        return node.of
          .map(each => this.#compile(each, next))
          .reduceRight((other, each) => this.#add({ set: undefined, ways: [each, other] }))
      case 'repeat':
        return this.#repeat(node, next)
    }
  }

  #repeat({ of, min, max }: Extract<RegexNode, { kind: 'repeat' }>, next: number): number {
    let start = next
    if (max === Number.POSITIVE_INFINITY) {
      const fork = this.#add({ set: undefined, ways: [next, next] })
      this.#states[fork] = { set: undefined, ways: [this.#compile(of, fork), next] }
      start = fork
    } else for (let count = min; count < max; count++) start = this.#add({ set: undefined, ways: [this.#compile(of, start), next] })
    for (let count = 0; count < min; count++) start = this.#compile(of, start)
    return start
  }

  #findClass(code: number): number {
    let low = 0
    let high = this.#classes.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#classes[middle]! <= code) low = middle
      else high = middle
    }
    return low
  }

  accepts(term: string): boolean {
    let stand = this.#first
    for (let at = 0; at < term.length; at++) {
      const code = term.codePointAt(at)!
      if (code > 0xffff) at++
      const kind = code < ASCII ? this.#asciiClasses[code]! : this.#findClass(code)
      stand = stand.next[kind] ?? this.#step(stand, kind)
      if (stand.waiting.length === 0 && !stand.isEnd) return false
    }
    spendWork(term.length)
    return stand.isEnd
  }

  #step(stand: Stand, kind: number): Stand {
    const code = this.#classes[kind]!
    const reached: number[] = []
    for (const at of stand.waiting) {
      const state = this.#states[at]!
      if (state.set !== undefined && holds(state.set, code)) reached.push(state.next)
    }
    const next = this.#standOf(reached)
    if (next.waiting.length <= MAX_REMEMBERED_STATES) stand.next[kind] = next
    return next
  }

  #standOf(from: readonly number[]): Stand {
    const waiting: number[] = []
    const open = [...from]
    let isEnd = false
    this.#round++
    while (open.length > 0) {
      const at = open.pop()!
      if (at < 0 || this.#met[at] === this.#round) continue
      this.#met[at] = this.#round
      const state = this.#states[at]!
      if (at === this.#end) isEnd = true
      else if (state.set === undefined) open.push(...state.ways)
      else waiting.push(at)
    }
    spendWork(8 * (from.length + waiting.length))
    if (waiting.length > MAX_REMEMBERED_STATES) return { waiting, isEnd, next: [] }
    const key = `${isEnd ? '+' : ''}${waiting.sort((a, b) => a - b).join(' ')}`
    const known = this.#stands.get(key)
    if (known !== undefined) return known
    if (this.#stands.size * this.#classes.length > MAX_REMEMBERED) this.#forget()
    const stand = { waiting, isEnd, next: [] }
    this.#stands.set(key, stand)
    return stand
  }

  #forget(): void {
    for (const stand of this.#stands.values()) stand.next.length = 0
    this.#stands = new Map()
    this.#first.next.length = 0
  }
}

const tooLarge = (): Error =>
  illegalArgument(`a regular expression may take at most ${MAX_REGEX_STATES} states, with its repetitions written out`)

function holds(set: CharacterSet, code: number): boolean {
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[middle]![1] < code) low = middle + 1
    else high = middle
  }
  return low < set.length && set[low]![0] <= code
}
