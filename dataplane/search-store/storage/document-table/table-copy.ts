/** A table as another process reads it: its documents, as the feed tells them. */
import type { IndexMapping } from '../../mapping/field-types.ts'
import { createMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import type { IndexCopy, IndexSnapshot } from '../index-copy.ts'
import type { FeedHead, TableFeedHead } from '../index-feed.ts'
import { TableRuns } from './table-runs.ts'

/** Documents that one of the `others` has of the same index are shared with it. */
export function createTableCopy(others: readonly IndexCopy[] = []): IndexCopy {
  return new TableCopy(others)
}

class TableCopy implements IndexCopy {
  #runs = new TableRuns()
  #others: readonly IndexCopy[]
  /** Messages that came since the last one that counts. */
  #pending: { readonly head: TableFeedHead; readonly bytes: Uint8Array }[] = []
  #mapping: IndexMapping | undefined
  #name = ''
  #uuid = ''

  constructor(others: readonly IndexCopy[]) {
    this.#others = others
  }

  get memoryBytes(): number {
    return this.#runs.memoryBytes
  }

  apply({ head, bytes }: { readonly head: FeedHead; readonly bytes: Uint8Array }): void {
    if (head.kind !== 'table') throw new Error(`a table was told of a ${head.kind}`)
    if (head.isFirst) this.#pending = []
    this.#pending.push({ head, bytes })
    if (!head.isLast) return
    for (const message of this.#pending) this.#take(message.head, message.bytes)
    this.#pending = []
    this.#others = []
  }

  #take({ name, uuid, isFirst, mappings, rows }: TableFeedHead, bytes: Uint8Array): void {
    this.#name = name
    this.#uuid = uuid
    if (isFirst) this.#runs = new TableRuns()
    if (mappings !== undefined) this.#mapping = createMapping(mappingConfigOf(mappings, Number.POSITIVE_INFINITY))
    const kin = this.#others.find(other => other instanceof TableCopy && other.#uuid === uuid) as TableCopy | undefined
    let at = 0
    for (const { id, seq_no: seqNo, version, bytes: length } of rows) {
      if (length < 0) {
        this.#runs.delete(id)
        continue
      }
      const same = kin === undefined ? undefined : kin.#runs.get(id)
      this.#runs.set(same?.seqNo === seqNo ? same : { id, seqNo, version, source: bytes.slice(at, at + length) })
      at += length
    }
  }

  snapshot(): IndexSnapshot {
    const mapping = this.#mapping!
    const segments = this.#runs.segments(mapping)
    const index = { name: this.#name, uuid: this.#uuid, mapping, segments: () => segments }
    return { name: index.name, uuid: index.uuid, open: async () => index }
  }
}
