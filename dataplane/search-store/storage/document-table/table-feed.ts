/** Tells a query process what changes in a table. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import type { FeedMessage, IndexFeed, TableFeedHead } from '../index-feed.ts'
import type { Entry } from './stage.ts'

/** Bounds of one message. */
const MAX_ROWS = 1000
const MAX_BYTES = 1 << 20
/** Beyond so many changes more than there are documents, the copy begins anew. */
const SPARE_CHANGES = 1000

/** Tells a copy of a table its documents, and then those that change. */
export class TableFeed implements IndexFeed {
  readonly #identity: { readonly name: string; readonly uuid: string }
  readonly #mapping: MutableMapping
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #onClose: () => void
  /** Ids in the order in which they changed; undefined: the copy knows nothing. */
  #changed: Set<string> | undefined
  #toldMapping = -1

  constructor(
    identity: { readonly name: string; readonly uuid: string },
    mapping: MutableMapping,
    entries: ReadonlyMap<string, Entry>,
    onClose: () => void,
  ) {
    this.#identity = identity
    this.#mapping = mapping
    this.#entries = entries
    this.#onClose = onClose
  }

  /** A document was written or deleted. */
  note(id: string): void {
    const changed = this.#changed
    if (changed === undefined) return
    changed.delete(id)
    changed.add(id)
    if (changed.size > this.#entries.size + SPARE_CHANGES) this.#changed = undefined
  }

  next(): Iterable<FeedMessage> {
    const isFirst = this.#changed === undefined
    if (this.#changed?.size === 0 && this.#toldMapping === this.#mapping.generation) return []
    const rows = isFirst
      ? [...this.#entries.entries()]
      : [...this.#changed!].map((id): [string, Entry | undefined] => [id, this.#entries.get(id)])
    const mappings = this.#toldMapping === this.#mapping.generation ? undefined : this.#mapping.toJson()
    this.#changed = new Set()
    this.#toldMapping = this.#mapping.generation
    return messagesOf({ kind: 'table', name: this.#identity.name, uuid: this.#identity.uuid }, isFirst, mappings, rows)
  }

  reset(): void {
    this.#changed = undefined
    this.#toldMapping = -1
  }

  close(): void {
    this.#onClose()
  }
}

/** `isFirst`: a copy begins with them. */
export function* messagesOf(
  identity: Pick<TableFeedHead, 'kind' | 'name' | 'uuid'>,
  isFirst: boolean,
  mappings: Record<string, unknown> | undefined,
  entries: readonly (readonly [string, Entry | undefined])[],
): Generator<FeedMessage, void, undefined> {
  let at = 0
  do {
    const isStart = at === 0
    const rows: TableFeedHead['rows'][number][] = []
    const bytes: Uint8Array[] = []
    for (let size = 0; at < entries.length && rows.length < MAX_ROWS && size < MAX_BYTES; at++) {
      const [id, entry] = entries[at]!
      rows.push({ id, seq_no: entry?.seqNo ?? 0, version: entry?.version ?? 0, bytes: entry?.source.length ?? -1 })
      if (entry === undefined) continue
      bytes.push(entry.source)
      size += entry.source.length
    }
    const head: TableFeedHead = {
      ...identity,
      ...(isStart && mappings !== undefined && { mappings }),
      isFirst: isFirst && isStart,
      isLast: at === entries.length,
      rows,
    }
    yield { head, bytes }
  } while (at < entries.length)
}
