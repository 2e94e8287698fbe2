/** Answers of searches in which a part of the store is missing: an index or shard that cannot be read, or the store's own time limit. */

export interface MissingParts {
  /** Indices or shards that gave no answer, also those that OpenSearch does not call failed, as they are not there, of `total`; 0 where the time limit alone cut the search off. */
  readonly failed: number
  readonly total: number
}

/** Undefined: the answer is whole. */
export function missingParts(answer: unknown): MissingParts | undefined {
  const { _shards: shards, timed_out: isTimedOut } = (answer ?? {}) as Searched
  const { total = 0, successful = total } = shards ?? {}
  const failed = Math.max(shards?.failed ?? 0, total - successful)
  return failed > 0 || isTimedOut === true ? { failed, total } : undefined
}

interface Searched {
  readonly _shards?: { readonly failed?: number; readonly successful?: number; readonly total?: number }
  readonly timed_out?: boolean
}
