/** Stands in for the storage of an index that could not be opened. */
import { ApiError, indexClosed } from '../api-error.ts'
import type { IndexMapping } from '../mapping/field-types.ts'
import { frozenFeed } from '../storage/frozen-index.ts'
import type { IndexCopy } from '../storage/index-copy.ts'
import type { IndexStorage, ReadableIndex } from '../storage/index-storage.ts'

const NO_FIELDS: IndexMapping = { field: () => undefined, paths: () => [], toJson: () => ({}) }

/** The answer to a request that needs the index's only shard. */
export function unavailable({ name, uuid, problem }: Pick<IndexStorage, 'name' | 'uuid' | 'problem'>, type: string): ApiError {
  return new ApiError(503, type, `index [${name}] is not available: ${problem ?? 'its storage is not there'}`, {
    details: { index: name, shard: '0', index_uuid: uuid },
  })
}

/** The answer where a part of an index that was to be read is damaged. */
export const damagedError = (damage: string): ApiError => new ApiError(503, NO_SHARD, damage)

export const NO_SHARD = 'no_shard_available_action_exception'
const NO_PRIMARY = 'unavailable_shards_exception'

/** Answers every request with 503. `destroy` removes the files of the index. */
export function unavailableStorage(
  identity: Pick<IndexStorage, 'name' | 'uuid' | 'createdAtMs'>,
  problem: string,
  destroy: () => Promise<void>,
): IndexStorage {
  const { name, uuid, createdAtMs } = identity
  const redFeed = () => frozenFeed(() => [{ head: { kind: 'red', name, uuid, problem }, bytes: [] }])
  const refusal = (type: string) => unavailable({ name, uuid, problem }, type)
  return {
    name,
    uuid,
    createdAtMs,
    problem,
    mapping: NO_FIELDS,
    docCount: 0,
    deletedCount: 0,
    sizeBytes: 0,
    apply: () => Promise.reject(refusal(NO_PRIMARY)),
    putMapping: () => Promise.reject(refusal(NO_PRIMARY)),
    getMany: () => Promise.reject(refusal(NO_SHARD)),
    get() {
      throw refusal(NO_SHARD)
    },
    segments() {
      throw refusal(NO_SHARD)
    },
    feed: redFeed,
    freeze: () => ({ name, uuid, files: [], memoryBytes: 0, feed: redFeed }),
    close: () => Promise.resolve(),
    destroy,
  }
}

/** An index that could not be opened, as queries see it. */
export function createRedCopy(): IndexCopy {
  let index: ReadableIndex | undefined
  return {
    memoryBytes: 0,
    apply({ head }) {
      if (head.kind !== 'red') throw new Error(`an index that could not be opened was told of a ${head.kind}`)
      const { name, uuid, problem } = head
      index = { name, uuid, problem, mapping: NO_FIELDS, segments: () => [] }
    },
    snapshot() {
      const known = index!
      return { name: known.name, uuid: known.uuid, open: async () => known }
    },
  }
}

/** Throws 400 for a closed index. */
export function checkOpen<I extends { readonly name: string; readonly isClosed: boolean }>(index: I): I {
  if (index.isClosed) throw indexClosed(index.name)
  return index
}

/** Throws 503 where an index cannot be written to, 400 where it is closed. */
export function checkWritable<I extends { readonly name: string; readonly isClosed: boolean; readonly storage: IndexStorage }>(
  index: I,
): I {
  checkOpen(index)
  if (index.storage.problem !== undefined) throw unavailable(index.storage, NO_PRIMARY)
  return index
}
