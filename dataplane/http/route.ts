/** Routes of a control API as data. */
import type { z } from 'zod'

export interface RouteRequest<Query, Body> {
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The tenant the caller speaks for; undefined: all. */
  readonly tenant: string | undefined
}

export interface Answer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body: unknown
}

export interface Route<Query = unknown, Body = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Express's path syntax: `/api/incidents/:id`. */
  readonly path: string
  /** Without one the route takes no query parameter. */
  readonly query?: z.ZodType<Query>
  /** Query parameters that may be given more than once: they come as one, with commas between. */
  readonly lists?: readonly string[]
  /** Without one the route takes no body. A request without a body is held against it as `undefined`. */
  readonly body?: z.ZodType<Body>
  handle(request: RouteRequest<Query, Body>): Answer | Promise<Answer>
}

/** Gives `handle` the types of its schemas. */
export function route<Query = undefined, Body = undefined>(definition: Route<Query, Body>): Route {
  return definition as unknown as Route
}
