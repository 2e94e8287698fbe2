/** From a query call to the bytes of its answer. */
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { render } from '../http/render.ts'
import type { Reply } from '../http/reply.ts'
import { PIECE_BYTES, piecesOf } from '../http/send-pieces.ts'
import { openQueryMemory } from '../query/budget/query-memory.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import { DamagedSegment } from '../storage/damaged-segment.ts'
import { count, validateQuery } from './count.ts'
import { listMatches } from './list-matches.ts'
import type { QueryAnswer, QueryCall, QueryContext, QueryOperation } from './query-call.ts'
import { multiSearch, search } from './search.ts'

const OPERATIONS: Readonly<Record<Exclude<QueryOperation, 'matches'>, (call: QueryCall, context: QueryContext) => Promise<Reply>>> = {
  search,
  multiSearch,
  count,
  validate: validateQuery,
}

/** Where a query comes upon damage, it is run again without that index, which counts as a failed shard. */
export async function executeQuery(call: QueryCall, surroundings: Omit<QueryContext, 'memory'>): Promise<QueryAnswer> {
  const memory = openQueryMemory()
  const problems = new Map<string, string>()
  try {
    for (;;) {
      const asked: SearchTarget[] = []
      const note = (targets: readonly SearchTarget[]) => {
        asked.push(...targets)
        return targets.map(target => withProblem(target, problems.get(target.storage.uuid)))
      }
      const context: QueryContext = {
        ...surroundings,
        memory,
        resolve: async (expression, options) => note(await surroundings.resolve(expression, options)),
        resolvePointInTime: async pointInTime => note(await surroundings.resolvePointInTime(pointInTime)),
      }
      try {
        return await answerTo(call, context)
      } catch (error) {
        if (!(error instanceof DamagedSegment)) throw error
        const damaged = holderOf(error, asked)
        if (damaged === undefined || problems.has(damaged)) throw error
        problems.set(damaged, error.message)
        surroundings.tellDamage?.(error.message)
        memory.giveBack(memory.usedBytes)
      }
    }
  } finally {
    memory.release()
  }
}

async function answerTo(call: QueryCall, context: QueryContext): Promise<QueryAnswer> {
  if (call.operation === 'matches') return { status: 200, headers: {}, length: undefined, pieces: await listMatches(call, context) }
  return answerOf(await OPERATIONS[call.operation](call, context), call)
}

function withProblem(target: SearchTarget, problem: string | undefined): SearchTarget {
  return problem === undefined ? target : { ...target, storage: { ...identityOf(target), problem, segments: () => [] } }
}

const identityOf = ({ storage: { name, uuid, mapping } }: SearchTarget) => ({ name, uuid, mapping })

function holderOf({ segment }: DamagedSegment, targets: readonly SearchTarget[]): string | undefined {
  return targets.find(({ storage }) => storage.segments().includes(segment))?.storage.uuid
}

export const COMPRESS_FROM_BYTES = 1024
/** Characters of an answer that `filter_path` or `pretty` is applied to, which takes many times their memory. */
const MAX_SHAPED_LENGTH = 16 * 1024 * 1024

const gzipAsync = promisify(gzip)
const GZIP = { level: 1 }
/**
 * Answers up to this length are packed on the thread of queries, in a quarter of a turn at most: another thread takes more CPU, and a busy machine
 * lets the answer wait for it and for the way back.
 */
const PACKED_AT_ONCE_BYTES = 128 * 1024

const pack = (bytes: Buffer): Buffer | Promise<Buffer> =>
  bytes.length > PACKED_AT_ONCE_BYTES ? gzipAsync(bytes, GZIP) : gzipSync(bytes, GZIP)

async function answerOf(reply: Reply, { parameters, acceptsGzip }: QueryCall): Promise<QueryAnswer> {
  const { contentType, text = '' } = render(reply, parameters, MAX_SHAPED_LENGTH)
  const bytes = Buffer.from(text)
  const isPacked = acceptsGzip && bytes.length >= COMPRESS_FROM_BYTES
  const body = isPacked ? await pack(bytes) : bytes
  return {
    status: reply.status,
    headers: { 'content-type': contentType, ...(isPacked && { 'content-encoding': 'gzip', vary: 'accept-encoding' }) },
    length: body.length,
    ...(reply.cursor !== undefined && { cursor: reply.cursor }),
    pieces: piecesOf(body),
    ...(body.length <= PIECE_BYTES && { whole: body }),
  }
}
