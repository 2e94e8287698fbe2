import { AliasTable } from './alias-table.ts'
import type { DataStream, StreamOfIndex, StreamRecord } from './data-stream.ts'

/** A stream with the generation of one of its indices. */
export type NewStreamIndex = StreamOfIndex & StreamRecord

/** The data streams there are, each with its indices by age. */
export class StreamTable {
  readonly #records = new Map<string, StreamRecord>()
  /** Names of the indices of each stream. */
  readonly indices = new AliasTable()

  has(name: string): boolean {
    return this.#records.has(name)
  }

  find(name: string): DataStream | undefined {
    const record = this.#records.get(name)
    return record && { name, ...record, indices: [...this.indices.indicesOf(name)] }
  }

  /** By name. */
  get all(): readonly DataStream[] {
    return [...this.#records.keys()].sort().map(name => this.find(name)!)
  }

  /** The index that documents of a stream go to. */
  writeIndexOf(name: string): string {
    return this.find(name)!.indices.at(-1)!
  }

  put(name: string, record: StreamRecord): void {
    this.#records.set(name, record)
  }

  add({ name, timestampField, generation }: NewStreamIndex, index: string): void {
    this.put(name, { timestampField, generation })
    this.indices.add(name, index)
  }

  remove(name: string): void {
    this.#records.delete(name)
  }
}
