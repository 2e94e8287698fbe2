/** Scrolls (`?scroll=`, `_search/scroll`) and points in time (`_search/point_in_time`). */
import { ApiError, illegalArgument, validationError } from '../../api-error.ts'
import type { ScrollPage } from '../../calls/query-call.ts'
import { parseDurationMs } from '../../dates/time-value.ts'
import { readStrings, words } from '../../json/json-reader.ts'
import type { Lease } from '../../leases/lease.ts'
import { checkedKeepAlive } from '../../leases/leases.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { queryCallOf } from '../query-route.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

/** Parameters that each page's own request sets; all other parameters are those of the first page. */
const PAGE_PARAMETERS = words('rest_total_hits_as_int typed_keys filter_path pretty human')

export const LASTING_SEARCH_ROUTES: readonly Route[] = [
  ...routes(['GET', 'POST'], ['/_search/scroll', '/_search/scroll/:scroll_id'], ['scroll', 'scroll_id', ...PAGE_PARAMETERS], nextPage),
  ...routes(['DELETE'], ['/_search/scroll', '/_search/scroll/:scroll_id'], [], closeScrolls),
  ...routes(
    ['POST'],
    ['/:index/_search/point_in_time'],
    [...INDEX_PARAMETERS, ...NODE_PARAMETERS, 'keep_alive', 'allow_partial_pit_creation'],
    openPointInTime,
  ),
  ...routes(['GET'], ['/_search/point_in_time/_all'], [], call => ok({ pits: call.deps.leases.list('pit').map(showPointInTime) })),
  ...routes(['DELETE'], ['/_search/point_in_time'], [], call => closePointsInTime(call, idsOf(call.json()['pit_id'], 'pit_id', 'pit'))),
  ...routes(['DELETE'], ['/_search/point_in_time/_all'], [], call =>
    closePointsInTime(
      call,
      call.deps.leases.list('pit').map(({ id }) => id),
    ),
  ),
]

/** The first page of a scroll. What is not valid in it is found when it is run; nothing stays open then. */
export async function openScroll(call: Call): Promise<Reply> {
  const { leases } = call.deps
  const keepAliveMs = checkedKeepAlive('scroll', parseDurationMs(call.query.get('scroll'), 'scroll'))
  const search = { index: call.path['index'], parameters: call.query.toString(), body: Buffer.from(call.body) }
  const resolved = resolveIndices(call)
  const scroll = leases.open('scroll', resolved, keepAliveMs, search)
  try {
    const reply = await page(call, scroll, { id: resolved.length === 0 ? undefined : scroll.id, cursor: undefined })
    if (resolved.length === 0) leases.close('scroll', scroll.id)
    return reply
  } catch (error) {
    leases.close('scroll', scroll.id)
    throw error
  }
}

/** Without a new keep-alive it is the last one. */
async function nextPage(call: Call): Promise<Reply> {
  const { leases } = call.deps
  const body = call.json()
  for (const [name, value] of Object.entries(body))
    if (!['scroll_id', 'scroll'].includes(name) || typeof value !== 'string')
      throw illegalArgument(`Unknown parameter [${name}] in request body or parameter is of the wrong type`)
  const id = body['scroll_id'] ?? call.path['scroll_id'] ?? call.query.get('scroll_id')
  if (typeof id !== 'string') throw validationError('scrollId is missing')
  const scroll = leases.get('scroll', id)
  const keepAlive = body['scroll'] ?? call.query.get('scroll')
  if (keepAlive !== null) scroll.keepAliveMs = checkedKeepAlive('scroll', parseDurationMs(keepAlive, 'scroll'))
  const reply = await page(call, scroll, { id: keepAlive === null ? undefined : id, cursor: scroll.cursor })
  if (keepAlive === null) leases.close('scroll', id)
  return reply
}

async function page(call: Call, scroll: Lease, page: ScrollPage): Promise<Reply> {
  const { deps, query } = call
  const { index, parameters: given, body } = scroll.search!
  const parameters = new URLSearchParams(given)
  for (const name of PAGE_PARAMETERS) parameters.delete(name)
  for (const name of PAGE_PARAMETERS) if (query.has(name)) parameters.set(name, query.get(name)!)
  const queryCall = { ...queryCallOf(call, 'search'), index, parameters, body, page, indices: scroll.indices }
  const answer = await deps.leases.use(scroll, () => deps.queries.run(queryCall, call.signal))
  scroll.cursor = answer.cursor
  return { status: answer.status, answer }
}

function idsOf(given: unknown, name: 'scroll_id' | 'pit_id', what: string): readonly string[] {
  const ids = given === undefined ? [] : readStrings(given, name)
  if (ids.length === 0) throw validationError(`no ${what} ids specified`)
  return ids
}

function closeScrolls(call: Call): Reply {
  const { leases } = call.deps
  const ids = idsOf(call.json()['scroll_id'] ?? call.path['scroll_id']?.split(','), 'scroll_id', 'scroll')
  if (ids.length === 1 && ids[0] === '_all') {
    const all = leases.list('scroll')
    for (const { id } of all) leases.close('scroll', id)
    return ok({ succeeded: true, num_freed: all.length })
  }
  const freed = ids.filter(id => leases.close('scroll', id)).length
  return { status: freed > 0 ? 200 : 404, body: { succeeded: true, num_freed: freed } }
}

function openPointInTime(call: Call): Reply {
  const keepAlive = call.query.get('keep_alive')
  if (keepAlive === null) throw validationError('keep alive not specified')
  const keepAliveMs = checkedKeepAlive('pit', parseDurationMs(keepAlive, 'keep_alive'))
  const resolved = resolveIndices(call)
  if (resolved.length === 0) throw new ApiError(400, 'illegal_argument_exception', `invalid id: no index matches [${call.path['index']}]`)
  const { id, createdAtMs } = call.deps.leases.open('pit', resolved, keepAliveMs)
  const count = resolved.length
  return ok({ pit_id: id, _shards: { total: count, successful: count, skipped: 0, failed: 0 }, creation_time: createdAtMs })
}

const showPointInTime = ({ id, createdAtMs, keepAliveMs }: Lease) => ({ pit_id: id, creation_time: createdAtMs, keep_alive: keepAliveMs })

/** One that is over already counts as closed. */
function closePointsInTime({ deps }: Call, ids: readonly string[]): Reply {
  for (const id of ids) deps.leases.close('pit', id)
  return ok({ pits: ids.map(id => ({ successful: true, pit_id: id })) })
}
