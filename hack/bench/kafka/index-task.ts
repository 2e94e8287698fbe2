/** Messages between the benchmark and its indexer process. */
import type { BenchTopics } from './bench-topics.ts'

/** Work on records that wait in `topics.enriched`. */
export interface IndexTask {
  readonly topics: BenchTopics
  readonly endpoint: string
  readonly documents: number
}

/** From the first record that it was handed until the last document was stored. */
export interface IndexRun {
  readonly seconds: number
  readonly cpuSeconds: number
}

export type FromIndexer = { readonly kind: 'started' } | ({ readonly kind: 'stored' } & IndexRun)
