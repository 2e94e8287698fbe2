/** Members of documents that come again and again, key and value: found by their bytes, with the events that they bring. */
import { CLOSE_OBJECT } from '../../../../json/bytes.ts'
import { byteRun } from './byte-run.ts'
import type { Edge, KnownMember } from './document-edges.ts'
import type { DocumentEvents } from './document-events.ts'
import { RECENT_BYTES, RecentRuns } from './recent-runs.ts'

/** Values of one key that are remembered. */
const MAX_VALUES = 64
/** Values that are remembered until it shows whether they come again. All fields of usual records together may have so many. */
const TRIED_VALUES = 24
/** Longest member that is remembered, bytes. */
const MAX_MEMBER_BYTES = 1_024
/** Memory of all members of one index, and of a member beside its bytes, bytes, about. */
const MAX_BYTES = 256 * 1024
const MEMBER_BYTES = 400

export class KnownMembers {
  readonly #events: DocumentEvents
  #era = 0
  #bytes = 0
  #edges: Edge[] = []

  constructor(events: DocumentEvents) {
    this.#events = events
  }

  get era(): number {
    return this.#era
  }

  /** Values may bring other events from here on. */
  forget(): void {
    for (const edge of this.#edges) forgetMembers(edge)
    this.#edges = []
    this.#bytes = 0
    this.#era++
  }

  /** Adds the events of a member. */
  add({ codes, terms, numberSlots, numbers }: KnownMember): void {
    const events = this.#events
    for (let k = 0; k < codes.length; k++) events.codes[events.codeEnd++] = codes[k]!
    for (let k = 0; k < numbers.length; k++) {
      events.numberSlots[events.numberEnd] = numberSlots[k]!
      events.numbers[events.numberEnd++] = numbers[k]!
    }
    if (terms.length === 0) return
    events.reserveTerms(terms.length / 2)
    for (let k = 0; k < terms.length; k++) events.terms[events.termEnd++] = terms[k]!
  }

  /**
   * Remembers the member in `bytes` from `start` to behind the comma or brace at `end - 1`, whose events came in behind the given places. Undefined
   * where it is none that is remembered.
   */
  note(edge: Edge, start: number, end: number, bytes: Uint8Array, terms: number, codes: number, numbers: number): KnownMember | undefined {
    if (end - start > MAX_MEMBER_BYTES) return undefined
    const events = this.#events
    if (edge.members === undefined && this.#bytes > MAX_BYTES) return undefined
    const members = edge.members ?? this.#begin(edge)
    const key = this.#keyOf(codes, numbers) ?? (members.size < MAX_VALUES ? hashOf(bytes, start, end) : NO_KEY)
    let member = members.get(key)
    if (member === undefined) {
      if (members.size >= TRIED_VALUES && edge.hits < members.size) return this.#giveUp(edge)
      if (members.size >= MAX_VALUES || this.#bytes > MAX_BYTES) return undefined
      member = {
        edge,
        run: byteRun(bytes.subarray(start, end)),
        isLast: bytes[end - 1] === CLOSE_OBJECT,
        codes: listOf(events.codes, codes, events.codeEnd),
        terms: listOf(events.terms, terms, events.termEnd),
        numberSlots: listOf(events.numberSlots, numbers, events.numberEnd),
        numbers: listOf(events.numbers, numbers, events.numberEnd),
        era: this.#era,
        next: undefined,
      }
      members.set(key, member)
      this.#bytes += memberBytes(end - start)
    }
    return member
  }

  /** The code or the number that a value brings, where it brings nothing else. */
  #keyOf(codes: number, numbers: number): number | undefined {
    const events = this.#events
    const hasNumber = events.numberEnd === numbers + 1
    if (events.codeEnd === codes + 2 && events.numberEnd === numbers) return events.codes[codes + 1]!
    return hasNumber && events.codeEnd === codes ? events.numbers[numbers]! : undefined
  }

  /** Values of the key do not come again. */
  #giveUp(edge: Edge): undefined {
    edge.isVaried = true
    this.#bytes -= RECENT_BYTES
    for (const { run } of edge.members!.values()) this.#bytes -= memberBytes(run.length)
    forgetMembers(edge)
  }

  #begin(edge: Edge): Map<number, KnownMember> {
    edge.members = new Map()
    edge.recent = new RecentRuns(edge.key.length + 1)
    this.#edges.push(edge)
    this.#bytes += RECENT_BYTES
    return edge.members
  }
}

const memberBytes = (length: number): number => MEMBER_BYTES + 2 * length

/** No number that is looked for: what is remembered is full. */
const NO_KEY = Number.NaN
const NOTHING: readonly number[] = []

const listOf = (events: Int32Array | Float64Array, from: number, to: number): readonly number[] =>
  from === to ? NOTHING : Array.from(events.subarray(from, to))

/** Tells most values of a key from each other. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash
}

function forgetMembers(edge: Edge): void {
  edge.recent = undefined
  edge.members = undefined
}
