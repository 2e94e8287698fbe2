/** The documents of a block, unpacked. */
import { releaseBytes } from '../../../../../memory/release-bytes.ts'
import type { MemberPick } from '../../../member-pick.ts'
import { readPlanes } from '../bytes/byte-planes.ts'
import type { BlockMessages } from './message-column.ts'

export interface BlockDocuments {
  /** Document k without the text of a message that stands apart. */
  bare(k: number): Buffer
  /** Document k byte for byte as it came. */
  whole(k: number, messages: BlockMessages | undefined): Buffer
  /**
   * An object of the members of document k that are picked, each as it stands there, in less time than the document takes; valid until the next call
   * for any block. Undefined: look at the document.
   */
  pick(k: number, pick: MemberPick): Buffer | undefined
  /** Whether documents are made when they are asked for; else they may be part of the block's memory. */
  readonly isMade: boolean
  readonly sizeBytes: number
  /** Gives the memory back; nothing can be read any more. */
  release(): void
}

/** Documents one behind the other, behind their lengths. With messages the lengths are in planes. */
export function plainDocuments(raw: Buffer, docs: number, hasMessages: boolean): BlockDocuments {
  let starts: Uint32Array | undefined
  const bare = (k: number) => {
    starts ??= documentStarts(raw, docs, hasMessages)
    return raw.subarray(starts[k], starts[k + 1])
  }
  return {
    isMade: false,
    sizeBytes: raw.length + 4 * docs,
    bare,
    whole: (k, messages) => (messages === undefined ? bare(k) : messages.restore(k, bare(k))),
    pick: () => undefined,
    release: () => releaseBytes(raw),
  }
}

/** Where each document starts, and, as one more, where the last one ends. */
function documentStarts(raw: Buffer, docs: number, hasMessages: boolean): Uint32Array {
  const planed = hasMessages ? readPlanes(raw, 0, docs) : undefined
  const starts = new Uint32Array(docs + 1)
  let start = 4 * docs
  for (let k = 0; k < docs; k++) {
    starts[k] = start
    start += planed === undefined ? raw.readUInt32LE(4 * k) : planed[k]!
  }
  starts[docs] = start
  return starts
}
