/** `/api/search`: the read endpoints of the specification, scoped to the caller's tenant (Spec: Search store; Decisions 7). */
import { ALL_LOGS, LOGS_PREFIX } from '../contract/indices.ts'
import { HttpError } from '../http/http-error.ts'
import { type BodyErrors, readBody } from '../http/request-body.ts'
import { createTurns, type Turns } from '../limits/turns.ts'
import { decompress, parseEncoding } from '../otlp-intake/decompress.ts'
import { MemoryBudget, type MemoryLease } from '../otlp-intake/memory-budget.ts'
import { Refusal } from '../otlp-intake/refusal.ts'
import { answerJson, methodNotAllowed, type TenantExchange } from '../upstream/exchange.ts'
import { formatPath } from '../upstream/request-path.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { ownIndices, parseIndexExpression } from './index-expression.ts'
import { type SearchOperation, scopeBody } from './scope-body.ts'

/** Decisions 7. */
const MAX_QUERY_BYTES = 1024 * 1024
/** Bytes of all searches that are held at a time, also of those that are still coming in. */
const MAX_HELD_BYTES = 32 * 1024 * 1024
/** Counts of daily indices that are asked for at a time, for one list of indices. */
const COUNTS_AT_ONCE = 8
/** Lists of indices that are made at a time: half of the connections to the store. */
const LISTS_AT_ONCE = 8
/** Lists under way or waiting, in all and of one tenant. */
const MAX_LISTS = 256
const MAX_LISTS_OF_TENANT = 64

const ERRORS = {
  tooLarge: maxBytes => new HttpError(400, `body: expected at most ${maxBytes} bytes`),
  cutShort: cause => new HttpError(400, 'body: expected all of it, seen the end of the connection', {}, { cause }),
} as const satisfies BodyErrors

/** Parameters that change how an answer looks, or what a missing index means. A query in a parameter would go around the filter. */
const PARAMETERS: Readonly<Record<SearchOperation | 'other', ReadonlySet<string>>> = {
  other: new Set(['format', 'pretty', 'human', 'filter_path']),
  _count: new Set(['pretty', 'human', 'filter_path', 'ignore_unavailable', 'allow_no_indices']),
  _search: new Set([
    ...['pretty', 'human', 'filter_path', 'ignore_unavailable', 'allow_no_indices', 'size', 'from', 'sort', 'track_total_hits'],
    ...['_source', '_source_includes', '_source_excludes', 'rest_total_hits_as_int', 'typed_keys'],
  ]),
}

/** The search store as the door of one process shows it. */
export interface SearchDoor {
  readonly store: Upstream
  /** Holds the bodies of searches. */
  readonly memory: MemoryBudget
  /** Lists of indices, each of which asks the store many times. */
  readonly lists: Turns
}

export function createSearchDoor(store: Upstream): SearchDoor {
  const lists = createTurns({ running: LISTS_AT_ONCE, inAll: MAX_LISTS, ofOwner: MAX_LISTS_OF_TENANT })
  return { store, memory: new MemoryBudget(MAX_HELD_BYTES), lists }
}

/** Answers a request whose path begins with `/api/search`; `segments` are those behind that. Throws `HttpError`. */
export async function answerSearch(door: SearchDoor, exchange: TenantExchange, segments: readonly string[]): Promise<void> {
  const { store } = door
  const { request } = exchange
  const path = segments.join('/')
  const [expression = '', operation = ''] = segments
  if (path === 'health') {
    assertMethod(request.method, ['GET', 'HEAD'])
    return answerHealth(store, exchange)
  }
  if (path === '_cluster/health') {
    assertMethod(request.method, ['GET', 'HEAD'])
    return store.forward(exchange, {
      path: formatPath(segments, checkedParameters(exchange, 'other')),
      headers: { 'accept-encoding': 'identity' },
    })
  }
  if (path === '_cat/indices') {
    assertMethod(request.method, ['GET', 'HEAD'])
    const listing = door.lists.take(exchange.owner.tenant, () => answerIndices(store, exchange))
    if (listing === undefined) throw new HttpError(429, 'too many lists of indices are asked for; try again later', { 'retry-after': '1' })
    return listing
  }
  if (segments.length === 2 && !expression.startsWith('_') && (operation === '_search' || operation === '_count')) {
    assertMethod(request.method, operation === '_search' ? ['POST', 'GET'] : ['GET', 'POST'])
    return query(door, exchange, expression, operation)
  }
  throw new HttpError(
    403,
    'for one tenant the search store answers GET /health, GET /_cluster/health, GET /_cat/indices?format=json, POST /<index>/_search and GET or POST /<index>/_count alone',
  )
}

function assertMethod(method: string | undefined, allowed: readonly string[]): void {
  if (!allowed.includes(method ?? '')) throw methodNotAllowed(method, allowed.join(', '))
}

function checkedParameters({ path }: TenantExchange, operation: SearchOperation | 'other'): string {
  const parameters = new URLSearchParams(path.search)
  for (const name of parameters.keys())
    if (!PARAMETERS[operation].has(name)) throw new HttpError(403, `parameter ${name.slice(0, 100)}: not allowed for one tenant`)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

/** The health check that all services have; OpenSearch has none of this name. */
async function answerHealth(store: Upstream, exchange: TenantExchange): Promise<void> {
  checkedParameters(exchange, 'other')
  const { status } = await store.json({ method: 'GET', path: '/_cluster/health', signal: exchange.signal })
  if (status !== 200) throw new HttpError(502, 'the search store does not tell its health')
  answerJson(exchange.response, 200, { status: 'ok' })
}

async function query(
  { store, memory }: SearchDoor,
  exchange: TenantExchange,
  expression: string,
  operation: SearchOperation,
): Promise<void> {
  const { request, owner } = exchange
  const { kind, names } = parseIndexExpression(expression, owner.tenant)
  const search = checkedParameters(exchange, operation)
  const lease = memory.lease(owner.tenant)
  try {
    const body = scopeBody(operation, await readQuery(request, lease), { kind, tenant: owner.tenant })
    await store.forward(exchange, {
      ...{ method: 'POST', path: formatPath([names.join(','), operation], search), body, isRepeatable: true },
      headers: { 'content-type': 'application/json', 'content-encoding': undefined, authorization: undefined },
    })
  } catch (error) {
    throw error instanceof Refusal ? asHttpError(error) : error
  } finally {
    lease.release()
  }
}

/** The body of a search, unpacked. Throws `HttpError` and `Refusal`. */
async function readQuery(request: TenantExchange['request'], lease: MemoryLease): Promise<Uint8Array> {
  const encoding = parseEncoding(request.headers['content-encoding'])
  const sent = await readBody(request, { maxBytes: MAX_QUERY_BYTES, errors: ERRORS, shared: lease })
  return sent.length === 0 ? sent : decompress(sent, encoding, MAX_QUERY_BYTES, lease)
}

function asHttpError(refusal: Refusal): HttpError {
  if (refusal.reason === 'tooLarge') return ERRORS.tooLarge(MAX_QUERY_BYTES)
  const { httpStatus, retryAfterSeconds } = refusal.kind
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return new HttpError(httpStatus, refusal.message, headers, { cause: refusal })
}

interface IndexRow {
  readonly index: string
  readonly health: string
  readonly status: string
  readonly 'docs.count': string
  readonly 'store.size': string
}

/** The tenant's indices alone: of a day of logs its own documents, and its share of the size. */
async function answerIndices(store: Upstream, exchange: TenantExchange): Promise<void> {
  const { response, owner, signal } = exchange
  checkedParameters(exchange, 'other')
  if (new URLSearchParams(exchange.path.search).get('format') !== 'json') throw new HttpError(400, 'format: expected json')
  const rows = await listRows(store, owner.tenant, signal)
  const shown: IndexRow[] = []
  const queue = [...rows.entries()]
  const counted = new Map<number, number>()
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, { index }] = next
      if (index.startsWith(LOGS_PREFIX)) counted.set(i, await countOf(store, index, owner.tenant, signal))
    }
  }
  await Promise.all(Array.from({ length: COUNTS_AT_ONCE }, work))
  rows.forEach((row, i) => {
    const own = counted.get(i)
    const [all, bytes] = [Number(row['docs.count']), Number(row['store.size'])]
    if (own === undefined) shown.push({ ...row, 'store.size': formatBytes(bytes) })
    else if (own > 0)
      shown.push({ ...row, 'docs.count': String(own), 'store.size': formatBytes(all > 0 ? (bytes * Math.min(own, all)) / all : 0) })
  })
  answerJson(response, 200, shown)
}

async function listRows(store: Upstream, tenant: string, signal: AbortSignal): Promise<readonly IndexRow[]> {
  const own = ownIndices(tenant)
  // A name without a wildcard would have to be there.
  const names = [ALL_LOGS, ...own.map(name => `${name}*`)].join(',')
  const parameters = '?format=json&bytes=b&h=health,status,index,docs.count,store.size'
  const { status, body } = await store.json({ method: 'GET', path: formatPath(['_cat', 'indices', names], parameters), signal })
  if (status !== 200 || !Array.isArray(body)) throw new HttpError(502, 'the search store could not list its indices')
  return (body as readonly IndexRow[]).filter(({ index }) => index.startsWith(LOGS_PREFIX) || own.includes(index))
}

async function countOf(store: Upstream, index: string, tenant: string, signal: AbortSignal): Promise<number> {
  const body = scopeBody('_count', Buffer.alloc(0), { kind: 'logs', tenant })
  const headers = { 'content-type': 'application/json' }
  const { status, body: answer } = await store.json({ method: 'POST', path: formatPath([index, '_count']), headers, body, signal })
  // Retention may have come between.
  if (status === 404) return 0
  if (status !== 200) throw new HttpError(502, `the search store could not count ${index}`)
  return (answer as { readonly count: number }).count
}

const UNITS = ['b', 'kb', 'mb', 'gb', 'tb'] as const

/** As the search store writes sizes: `12.3kb`. */
function formatBytes(bytes: number): string {
  let size = Number.isFinite(bytes) ? bytes : 0
  let unit = 0
  for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024
  return `${unit === 0 ? Math.round(size) : Math.round(size * 10) / 10}${UNITS[unit]}`
}
