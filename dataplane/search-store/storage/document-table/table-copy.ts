/** A table as another process reads it: its documents, as the feed tells them. */
import type { IndexMapping } from '../../mapping/field-types.ts'
import { createMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import type { IndexCopy, IndexSnapshot } from '../index-copy.ts'
import type { FeedHead, TableFeedHead } from '../index-feed.ts'
import type { Segment } from '../index-storage.ts'
import type { Entry } from './stage.ts'
import { tableSegment } from './table-segment.ts'

/** Memory of a document beside its bytes; and once queries have parsed it, as a multiple of its bytes. */
const ROW_BYTES = 200
const PARSED_TIMES = 4

/** Documents that one of the `others` has of the same index are shared with it. */
export function createTableCopy(others: readonly IndexCopy[] = []): IndexCopy {
  return new TableCopy(others)
}

const NO_ENTRIES: ReadonlyMap<string, Entry> = new Map()

class TableCopy implements IndexCopy {
  #entries = new Map<string, Entry>()
  #others: readonly IndexCopy[]
  /** Messages that came since the last one that counts. */
  #pending: { readonly head: TableFeedHead; readonly bytes: Uint8Array }[] = []
  #mapping: IndexMapping | undefined
  #name = ''
  #uuid = ''
  #sourceBytes = 0
  #segments: readonly Segment[] | undefined

  constructor(others: readonly IndexCopy[]) {
    this.#others = others
  }

  get memoryBytes(): number {
    return this.#entries.size * ROW_BYTES + this.#sourceBytes * (1 + PARSED_TIMES)
  }

  apply({ head, bytes }: { readonly head: FeedHead; readonly bytes: Uint8Array }): void {
    if (head.kind !== 'table') throw new Error(`a table was told of a ${head.kind}`)
    if (head.isFirst) this.#pending = []
    this.#pending.push({ head, bytes })
    if (!head.isLast) return
    for (const message of this.#pending) this.#take(message.head, message.bytes)
    this.#pending = []
    this.#others = []
    this.#segments = undefined
  }

  #take({ name, uuid, isFirst, mappings, rows }: TableFeedHead, bytes: Uint8Array): void {
    this.#name = name
    this.#uuid = uuid
    if (isFirst) {
      this.#entries = new Map()
      this.#sourceBytes = 0
    }
    if (mappings !== undefined) this.#mapping = createMapping(mappingConfigOf(mappings, Number.POSITIVE_INFINITY))
    const kin = this.#others.find(other => other instanceof TableCopy && other.#uuid === uuid) as TableCopy | undefined
    const known = kin === undefined ? NO_ENTRIES : kin.#entries
    let at = 0
    for (const { id, seq_no: seqNo, version, bytes: length } of rows) {
      this.#sourceBytes -= this.#entries.get(id)?.source.length ?? 0
      this.#entries.delete(id)
      if (length < 0) continue
      const same = known.get(id)
      this.#entries.set(id, same?.seqNo === seqNo ? same : { id, seqNo, version, source: bytes.slice(at, at + length) })
      this.#sourceBytes += length
      at += length
    }
  }

  snapshot(): IndexSnapshot {
    this.#segments ??= [tableSegment([...this.#entries.values()])]
    const segments = this.#segments
    const index = { name: this.#name, uuid: this.#uuid, mapping: this.#mapping!, segments: () => segments }
    return { name: index.name, uuid: index.uuid, open: async () => index }
  }
}
