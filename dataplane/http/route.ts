/** Routes as data: the form that all tables of routes have, and what those of control APIs add to it. */
import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'

export interface Answer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
}

/** A row of a table. */
export interface RouteForm<Request, Reply extends Answer = Answer> {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/api/incidents/:id`; a part that begins with a colon stands for any value. */
  readonly path: string
  handle(request: Request): Reply | Promise<Reply>
}

export interface RouteRequest<Query, Body> {
  readonly headers: IncomingHttpHeaders
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The tenant the caller speaks for; undefined: all. */
  readonly tenant: string | undefined
}

/** A GET route serves HEAD, too. */
export interface Route<Query = unknown, Body = unknown> extends RouteForm<RouteRequest<Query, Body>> {
  /** Without one the route takes no query parameter. */
  readonly query?: z.ZodType<Query>
  /** Query parameters that may be given more than once: they come as one, with commas between. */
  readonly lists?: readonly string[]
  /** Without one the route takes no body. A request without a body is held against it as `undefined`. */
  readonly body?: z.ZodType<Body>
  /** `body` is the bytes as they were sent, of any type, for signatures over them; empty without a body. `body` above is then none. */
  readonly takesBytes?: true
}

/** Gives `handle` the types of its schemas. */
export function route<Query = undefined, Body = undefined>(definition: Route<Query, Body>): Route {
  return definition as unknown as Route
}
