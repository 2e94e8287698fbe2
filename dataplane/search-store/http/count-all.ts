import { resolveIndices } from './index-parameters.ts'
import type { Call } from './route.ts'

/** How many documents the indices of a call hold, which they know without a query; undefined where one cannot be opened, or an alias shows a part of it. */
export function countAll(call: Call): number | undefined {
  const resolved = resolveIndices(call)
  return resolved.some(({ index, filter }) => filter !== undefined || index.storage.problem !== undefined)
    ? undefined
    : resolved.reduce((sum, { index }) => sum + index.storage.docCount, 0)
}
