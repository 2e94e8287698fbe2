/** From a query call to the bytes of its answer. */
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { render } from '../http/answer/render.ts'
import type { Reply } from '../http/answer/reply.ts'
import { PIECE_BYTES, piecesOf } from '../http/answer/send-pieces.ts'
import { openQueryMemory } from '../query/budget/query-memory.ts'
import type { SearchTarget } from '../query/run/search-target.ts'
import { DamagedSegment } from '../storage/damaged-segment.ts'
import { EMPTY_SEGMENT } from '../storage/empty-segment.ts'
import type { Segment } from '../storage/index-storage.ts'
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

/** Damaged segments of an index that a query goes round, each of which costs another run. An index with more is left out. */
const MAX_DAMAGED = 16

/** Where a query comes upon damage, it is run again without that segment, whose index counts as a failed shard. */
export async function executeQuery(call: QueryCall, surroundings: Omit<QueryContext, 'memory'>): Promise<QueryAnswer> {
  const memory = openQueryMemory()
  const damages = new Map<string, Damages>()
  try {
    for (;;) {
      const asked: SearchTarget[] = []
      const note = (targets: readonly SearchTarget[]) => {
        asked.push(...targets)
        for (const { storage } of targets)
          for (const damage of storage.damage ?? []) surroundings.tellDamage?.({ ...damage, uuid: storage.uuid })
        return targets.map(target => withDamages(target, damages.get(target.storage.uuid)))
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
        const known: Damages = damages.get(damaged ?? '') ?? { segments: new Set(), texts: [] }
        if (damaged === undefined || known.texts.length > MAX_DAMAGED) throw error
        known.segments.add(keyOf(error.segment))
        known.texts.push(error.message)
        damages.set(damaged, known)
        surroundings.tellDamage?.({ text: error.message, uuid: damaged, segment: error.segment.number })
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

/** Damage of one index that a query has come upon. */
interface Damages {
  readonly segments: Set<Segment | number>
  /** One for each time. */
  readonly texts: string[]
}

/** Each run may see a sealed segment by another object. */
const keyOf = (segment: Segment): Segment | number => segment.number ?? segment

function withDamages(target: SearchTarget, damages: Damages | undefined): SearchTarget {
  if (damages === undefined) return target
  const { name, uuid, mapping, damage = [] } = target.storage
  const whole = target.storage.segments()
  const segments = whole.map(segment => (damages.segments.has(keyOf(segment)) ? EMPTY_SEGMENT : segment))
  if (damages.texts.length > MAX_DAMAGED)
    return { ...target, storage: { name, uuid, mapping, problem: damages.texts[0]!, segments: () => [] } }
  if (!segments.includes(EMPTY_SEGMENT)) return target
  return {
    ...target,
    storage: { name, uuid, mapping, damage: [...damages.texts.map(text => ({ text })), ...damage], segments: () => segments },
  }
}

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
