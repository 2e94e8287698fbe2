/** A stand-in for a ticket platform: its routes as a table, and what it holds. */
import type { RouteForm } from '../../http/route.ts'
import { percentDecoded } from '../percent-decoded.ts'
import type { Html } from './html.ts'

export interface StubRequest {
  /** The path of the route, such as `/rest/api/3/issue/:key`. */
  readonly route: string
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
  /** Where the platform itself listens, such as `http://127.0.0.1:18102`. */
  readonly origin: string
}

export interface StubAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A text is sent as `text/plain`, anything else as JSON. */
  readonly body?: unknown
}

export type StubRoute = RouteForm<StubRequest, StubAnswer>

/** How many requests a caller may send. */
export interface RateLimit {
  readonly perSecond: number
  /** Requests at once after a quiet time. */
  readonly burst: number
}

/** A limit, and who it counts for: each webhook, each integration. */
export interface CallerLimit extends RateLimit {
  callerOf(request: StubRequest): string
}

export interface StubPlatform {
  /** As it stands on pages, such as `Jira Cloud`. */
  readonly title: string
  readonly routes: readonly StubRoute[]
  /** Asked before each route: the answer to a caller whose credentials are wrong. */
  refuseCaller?(request: StubRequest): StubAnswer | undefined
  /** An error with the platform's own body. */
  refuse(status: number): StubAnswer
  /** Default: none. */
  readonly rateLimit?: CallerLimit
  /** Faults of this platform alone, by their kind; `value` is what the fault says of it. */
  readonly ownFaults?: Readonly<Record<string, (value: number | string | undefined, times: number) => void>>
  /** The requests that arrived, for `GET /_stub/state`; lists have the newest first. */
  state(): object
  /** The same for people: what stands between header and footer of its page. */
  page(): Html
  clear(): void
}

/** A path with its parameters decoded; undefined when it is another path. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const parts = pattern.split('/')
  const seen = path.split('/')
  if (parts.length !== seen.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = percentDecoded(seen[at]!)
    else if (part !== seen[at]) return undefined
  }
  return params
}
