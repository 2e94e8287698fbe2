/**
 * The form in which documents to be created come from a thread that has walked them: the content that they bring to the index, and their blocks as they
 * will be written. Slots and values are numbered within the form. Both threads are of one process and one version.
 */
import type { PackedBlock } from './log-engine/format/block/block.ts'

/** The state of an index that a walker must know: it walks by this mapping. */
export interface WalkedState {
  /** Number of the opened index in its process. */
  readonly instance: number
  /** Revision of the mapping: a walk by another one is of no use. */
  readonly revision: number
}

export interface WalkedDocuments extends WalkedState {
  readonly count: number
  /** All numbers of the form, as `readWalked` finds them. */
  readonly words: ArrayBuffer
  readonly lengths: WalkedLengths
  /** Fields by slot. */
  readonly paths: readonly string[]
  /** The values of keyword fields in UTF-8, one behind the other. */
  readonly valueBytes: Uint8Array
  /** Shapes of messages by code less one. */
  readonly shapes: readonly WalkedShape[]
  /** How words with digits begin; absent: there are none. */
  readonly starts: Uint8Array | undefined
  readonly blocks: readonly WalkedBlock[]
}

/** Counts of what stands in `words`. */
export interface WalkedLengths {
  readonly numberEnd: number
  readonly codeEnd: number
  readonly termEnd: number
  readonly pairEnd: number
  readonly values: number
}

export interface WalkedShape {
  readonly lo: number
  readonly hi: number
  readonly text: string
}

export interface WalkedBlock {
  /** Its first document, of those of the form. */
  readonly from: number
  readonly block: PackedBlock
}

/** Knowledge that a walker has of an index: it is told the rest. */
export interface WalkerKnowledge extends WalkedState {
  /** Generation of the mapping, which new fields change, too; −1: new fields are of no interest. */
  readonly generation: number
  /** Number of the fields in `WalkerNews`. */
  readonly termFields: number
}

export interface WalkerNews extends WalkedState {
  readonly generation: number
  /** As `GET _mapping` has it. */
  readonly mapping: Readonly<Record<string, unknown>>
  /** Keyword fields whose values have no codes: their values come as terms. */
  readonly termFields: readonly string[]
}
