/** Routes as data: method, path, parameters, body, handler. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../ports/clock.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { QueryRunner } from '../calls/query-call.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type JsonObject, words } from '../json/json-reader.ts'
import type { MemoryLease } from '../memory-pool.ts'
import type { Reply } from './reply.ts'

export interface Deps {
  readonly catalog: Catalog
  readonly clock: Clock
  readonly metrics: Metrics
  readonly nodeName: string
  readonly clusterUuid: string
  readonly queries: QueryRunner
  /** Directory whose disk the store fills. */
  readonly dir: string
}

export interface Call {
  readonly deps: Deps
  readonly method: string
  /** Decoded values of the pattern's `{name}` parts. */
  readonly path: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** Taken back when the handler has answered: bytes that are to live longer have to be copied. */
  readonly body: Buffer
  /** What bulks share for their operations; given back when the handler has answered. */
  readonly memory: MemoryLease
  /** What all answers share; given back when the client has read this one. */
  readonly answerMemory: MemoryLease
  /** The body as a JSON object; empty when there is none. Throws 400 when it is anything else. */
  json(): JsonObject
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'

export interface Route {
  readonly methods: readonly Method[]
  /** `/{index}/_doc/{id}` */
  readonly pattern: string
  /** `documents` may be large, `document` as large as a document may be; anything else is held to the bounds of a query. */
  readonly body: 'none' | 'query' | 'document' | 'documents'
  /** Parameters beside those that every call knows. */
  readonly parameters: readonly string[]
  handle(call: Call): Reply | Promise<Reply>
}

/** A route for each of the patterns. */
export function routes(
  methods: readonly Method[],
  patterns: readonly string[],
  parameters: readonly string[],
  handle: Route['handle'],
  body: Route['body'] = 'query',
): readonly Route[] {
  return patterns.map(pattern => ({ methods, pattern, body, parameters, handle }))
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

/** The first route of the table whose pattern fits wins. */
export function createRouter(routes: readonly Route[]): (method: string, pathname: string) => Match {
  const compiled: readonly CompiledRoute[] = routes.map(route => ({ route, parts: route.pattern.split('/').slice(1) }))
  return (method, pathname) => {
    const segments = pathname.replace(/\/+$/, '').split('/').slice(1)
    const allowed = new Set<Method>()
    for (const { route, parts } of compiled) {
      const path = matchParts(parts, segments)
      if (path === undefined) continue
      if (route.methods.some(each => each === method)) return { kind: 'found', route, path }
      for (const each of route.methods) allowed.add(each)
    }
    return allowed.size > 0 ? { kind: 'wrong method', allowed: [...allowed].sort() } : { kind: 'no route' }
  }
}

function matchParts(parts: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== Math.max(1, segments.length)) return undefined
  const path: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] ?? ''
    if (!part.startsWith('{')) {
      if (part !== segment) return undefined
      continue
    }
    const name = part.slice(1, -1)
    // Names of indices never start with an underscore, names of operations always do.
    if (segment === '' || (name === 'index' && segment.startsWith('_') && !segment.startsWith('_all'))) return undefined
    path[name] = segment
  }
  return path
}
