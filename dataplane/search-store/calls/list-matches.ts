/** Every document that a query matches, for `_delete_by_query` and `_update_by_query`: line after line, made as they are read. */
import { resolveOptions } from '../http/request/index-parameters.ts'
import { readJsonObject } from '../http/request/request-body.ts'
import { createPace } from '../query/budget/pace.ts'
import { plainFuzziness } from '../query/parse/fuzziness.ts'
import type { Query } from '../query/parse/query.ts'
import { parseQueryString } from '../query/parse/query-string.ts'
import { parseQueryBody } from '../query/parse/search-request.ts'
import { type MatchingDocuments, matchingDocuments } from '../query/run/all-matches.ts'
import type { QueryCall, QueryContext } from './query-call.ts'

/** The first piece. */
export interface MatchTotal {
  readonly total: number
}

/** Every piece after the first: documents of one index, in order of arrival. */
export interface MatchBatch {
  readonly uuid: string
  readonly ids: readonly string[]
  readonly seqNos: readonly number[]
}

/** Documents of a piece. */
const MATCH_BATCH = 1000

export async function listMatches(
  { index, parameters, body }: QueryCall,
  context: QueryContext,
): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
  const query = queryOf(parameters, body)
  const found = await matchingDocuments(await context.resolve(index ?? '_all', resolveOptions(parameters)), query, context)
  return piecesOf(found, context)
}

function queryOf(parameters: URLSearchParams, body: Buffer): Query {
  const q = parameters.get('q')
  if (q === null) return parseQueryBody(readJsonObject(body, parameters), 'by query', ['max_docs', 'conflicts'])
  return parseQueryString(q, {
    fields: [{ pattern: '*', boost: 1 }],
    operator: 'or',
    lenient: true,
    phraseSlop: 0,
    fuzzyWith: plainFuzziness,
    boost: 1,
  })
}

async function* piecesOf(found: readonly MatchingDocuments[], { clock, turns }: QueryContext): AsyncGenerator<Uint8Array, void, undefined> {
  const pace = createPace(clock, Number.POSITIVE_INFINITY, turns)
  yield lineOf({ total: found.reduce((sum, { docs }) => sum + docs.length, 0) } satisfies MatchTotal)
  let batch: MatchBatch | undefined
  for (const { storage, segment, docs } of found) {
    for (let at = 0; at < docs.length; ) {
      if (batch !== undefined && (batch.uuid !== storage.uuid || batch.ids.length === MATCH_BATCH)) {
        yield lineOf(batch)
        batch = undefined
      }
      await pace.step()
      const { ids, seqNos }: MatchBatch = batch ?? { uuid: storage.uuid, ids: [], seqNos: [] }
      const taken = [...docs.subarray(at, at + MATCH_BATCH - ids.length)]
      at += taken.length
      batch = {
        uuid: storage.uuid,
        ids: [...ids, ...taken.map(doc => segment.id(doc))],
        seqNos: [...seqNos, ...taken.map(doc => segment.seqNo(doc))],
      }
    }
  }
  if (batch !== undefined) yield lineOf(batch)
}

const lineOf = (value: object): Uint8Array => Buffer.from(JSON.stringify(value))
