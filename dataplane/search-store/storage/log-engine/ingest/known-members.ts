/** Members of documents that come again and again, key and value: found by their bytes, with the events that they bring. */
import { byteRun } from './byte-run.ts'
import type { Edge, KnownMember } from './document-edges.ts'
import type { DocumentEvents } from './document-events.ts'

/** Values of one key that are remembered. */
const MAX_VALUES = 64
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
  add(member: KnownMember): void {
    const events = this.#events
    if (member.codeSlot >= 0) {
      events.codes[events.codeEnd] = member.codeSlot
      events.codes[events.codeEnd + 1] = member.code
      events.codeEnd += 2
    }
    if (member.numberSlot >= 0) {
      events.numberSlots[events.numberEnd] = member.numberSlot
      events.numbers[events.numberEnd++] = member.number
    }
    if (member.hasTerm) {
      events.terms[events.termEnd] = member.lo
      events.terms[events.termEnd + 1] = member.hi
      events.termEnd += 2
    }
  }

  /**
   * Remembers the member in `bytes` from `start` to behind the comma at `end - 1`, whose events came in behind the given places. Undefined where it
   * is none that is remembered.
   */
  note(edge: Edge, start: number, end: number, bytes: Uint8Array, terms: number, codes: number, numbers: number): KnownMember | undefined {
    const events = this.#events
    const hasCode = events.codeEnd === codes + 2
    const hasNumber = events.numberEnd === numbers + 1
    if (hasCode === hasNumber || events.codeEnd > codes + 2 || events.numberEnd > numbers + 1 || events.termEnd > terms + 2)
      return undefined
    const value = hasCode ? events.codes[codes + 1]! : events.numbers[numbers]!
    const members = edge.members ?? this.#begin(edge)
    let member = members.get(value)
    if (member === undefined) {
      if (members.size >= MAX_VALUES && edge.hits < members.size) return this.#giveUp(edge)
      if (members.size >= MAX_VALUES || end - start > MAX_MEMBER_BYTES || this.#bytes > MAX_BYTES) return undefined
      const hasTerm = events.termEnd > terms
      member = {
        edge,
        run: byteRun(bytes.subarray(start, end)),
        codeSlot: hasCode ? events.codes[codes]! : -1,
        code: hasCode ? value : 0,
        hasTerm,
        lo: hasTerm ? events.terms[terms]! : 0,
        hi: hasTerm ? events.terms[terms + 1]! : 0,
        numberSlot: hasNumber ? events.numberSlots[numbers]! : -1,
        number: hasNumber ? value : 0,
        era: this.#era,
        next: undefined,
      }
      members.set(value, member)
      this.#bytes += MEMBER_BYTES + end - start
    }
    if (edge.known !== member) {
      edge.knownBefore = edge.known
      edge.known = member
    }
    return member
  }

  /** Values of the key do not come again. */
  #giveUp(edge: Edge): undefined {
    edge.isVaried = true
    forgetMembers(edge)
  }

  #begin(edge: Edge): Map<number, KnownMember> {
    edge.members = new Map()
    this.#edges.push(edge)
    return edge.members
  }
}

function forgetMembers(edge: Edge): void {
  edge.known = undefined
  edge.knownBefore = undefined
  edge.members = undefined
}
