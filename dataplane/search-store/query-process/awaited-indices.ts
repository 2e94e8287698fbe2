import type { CatalogIndex } from '../catalog/catalog.ts'
import type { Fed } from './feeds.ts'

/** Fewer documents are answered about as quickly without preparation. */
const MIN_DOCUMENTS = 20_000
/** The indices of two days, and those of their anomalies. */
const MAX_INDICES = 4

/** The indices that the first queries after a start will be about: the newest ones with many documents, the newest first. */
export function awaitedIndices(indices: readonly CatalogIndex[]): readonly Fed[] {
  return indices
    .filter(({ storage }) => storage.docCount >= MIN_DOCUMENTS)
    .sort((a, b) => b.createdAtMs - a.createdAtMs)
    .slice(0, MAX_INDICES)
    .map(({ storage }) => storage)
}
