/** The key-value online store of ML features. Adapters: Redis and embedded; both pass `adapters/online-store/testing/online-store-suite.ts`. */
import type { FeatureName } from '../domain/features/feature-view.ts'

/** Whose features they are. */
export interface FeatureKey {
  readonly tenant: string
  readonly service: string
}

/** null: written as unknown. A feature that was never written is missing. */
export type FeatureValues = { readonly [F in FeatureName]?: number | null }

export interface FeatureRow extends FeatureKey {
  readonly values: FeatureValues
  /** The time that the values speak of, ms since the epoch. */
  readonly eventMs: number
  /** When they were written, ms since the epoch. */
  readonly writtenMs: number
}

export interface OnlineStore {
  /** Writes in order, the last write wins. Features that a row does not name keep what they were. Resolves once the write is as durable as the store makes it. */
  write(rows: readonly FeatureRow[]): Promise<void>
  /** One entry per key, in order; undefined where nothing is stored. */
  read(keys: readonly FeatureKey[]): Promise<readonly (FeatureRow | undefined)[]>
  /** Every row that is neither written nor removed meanwhile, at least once, in pages; gives way to other work between them. */
  scan(): AsyncIterable<readonly FeatureRow[]>
  remove(keys: readonly FeatureKey[]): Promise<void>
  /** Differs from before after any `write` or `remove`, whoever did it. */
  version(): Promise<string>
  close(): Promise<void>
}

/** The store cannot be reached or did not answer in time; trying again later may help. Every method may reject with it. */
export class OnlineStoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OnlineStoreUnavailable'
  }
}
