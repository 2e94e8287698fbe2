import type { CatalogIndex } from '../../catalog/catalog.ts'

/** Whether an index could not be opened. */
export const isRed = ({ storage }: CatalogIndex): boolean => storage.problem !== undefined

/** Green, or red where an index could not be opened. */
export function statusOf(indices: readonly CatalogIndex[]): 'green' | 'red' {
  return indices.some(isRed) ? 'red' : 'green'
}
