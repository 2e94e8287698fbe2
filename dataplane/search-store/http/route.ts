/** Routes of the REST API as data, and which of them a request is for. */
import type { IncomingHttpHeaders } from 'node:http'
import type { RouteForm } from '../../http/route.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type JsonObject, words } from '../json/json-reader.ts'
import type { Leases } from '../leases/leases.ts'
import type { MemoryLease } from '../memory-pool.ts'
import type { WriteHealth } from '../write-health.ts'
import type { Reply } from './answer/reply.ts'

export interface Deps {
  readonly catalog: Catalog
  readonly clock: Clock
  readonly metrics: Metrics
  readonly nodeName: string
  readonly clusterUuid: string
  readonly queries: QueryRunner
  readonly leases: Leases
  /** Directory whose disk the store fills. */
  readonly dir: string
  readonly writes: Pick<WriteHealth, 'problem'>
}

export interface Call {
  readonly deps: Deps
  readonly method: string
  /** Decoded values of the path's `:name` parts. */
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** Taken back when the handler has answered: bytes that are to live longer have to be copied. */
  readonly body: Buffer
  /** Memory that bulks share for their operations; given back when the handler has answered. */
  readonly memory: MemoryLease
  /** Memory that all answers share; given back when the client has read this one. */
  readonly answerMemory: MemoryLease
  /** The body as a JSON object; empty when there is none. Throws 400 when it is anything else. */
  json(): JsonObject
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'

export interface Route extends RouteForm<Call, Reply> {
  readonly method: Method
  /** `documents` may be large, `document` as large as a document may be; anything else is held to the bounds of a query. */
  readonly body: 'none' | 'query' | 'document' | 'documents'
  /** Parameters beside those that every call knows. */
  readonly parameters: readonly string[]
}

/** A route for each of the methods on each of the paths. */
export function routes(
  methods: readonly Method[],
  paths: readonly string[],
  parameters: readonly string[],
  handle: Route['handle'],
  body: Route['body'] = 'query',
): readonly Route[] {
  return paths.flatMap(path => methods.map(method => ({ method, path, body, parameters, handle })))
}

/** Parameters that every call takes. */
export const COMMON_PARAMETERS: readonly string[] = words('pretty human error_trace filter_path source source_content_type format')

interface CompiledRoute {
  readonly route: Route
  readonly parts: readonly string[]
}

export type Match =
  | { readonly kind: 'found'; readonly route: Route; readonly path: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong method'; readonly allowed: readonly Method[] }
  | { readonly kind: 'no route' }

/** The first route of the table whose path fits wins. */
export function createRouter(routes: readonly Route[]): (method: string, pathname: string) => Match {
  const compiled: readonly CompiledRoute[] = routes.map(route => ({ route, parts: route.path.split('/').slice(1) }))
  const byMethod = Map.groupBy(compiled, ({ route }) => route.method as string)
  return (method, pathname) => {
    const segments = pathname
      .replace(/(?<!\/)\/+$/, '')
      .split('/')
      .slice(1)
    for (const { route, parts } of byMethod.get(method) ?? []) {
      const path = matchParts(parts, segments)
      if (path !== undefined) return { kind: 'found', route, path }
    }
    const others = compiled.filter(({ parts }) => matchParts(parts, segments) !== undefined)
    const allowed = [...new Set(others.map(({ route }) => route.method))].sort()
    return allowed.length > 0 ? { kind: 'wrong method', allowed } : { kind: 'no route' }
  }
}

function matchParts(parts: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== Math.max(1, segments.length)) return undefined
  const path: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? ''
    if (!part.startsWith(':')) {
      if (part !== segment) return undefined
      continue
    }
    const name = part.slice(1)
    // Names of indices never start with an underscore, names of operations always do.
    if (segment === '' || (name === 'index' && segment.startsWith('_') && !segment.startsWith('_all'))) return undefined
    path[name] = segment
  }
  return path
}
