/** Parts of a control request: tenant, query, JSON body. Each throws an `HttpError`. */
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { TENANT_HEADER } from '../contract/headers.ts'
import { schemaProblems } from '../contract/schema-problems.ts'
import { TENANT_ID_PATTERN } from '../contract/tenant-id.ts'
import { MAX_CONTROL_DEPTH } from '../json/depth.ts'
import { hasMoreValues } from '../json/mark-count.ts'
import type { BodyErrors as MemoryErrors } from '../limits/body-memory.ts'
import { HttpError } from './http-error.ts'
import { type BodyErrors, type JsonErrors, parseJson, readBody, type SharedMemory } from './request-body.ts'

/** The tenant a request speaks for; undefined without the header: all tenants are visible (Decisions 7). Throws `HttpError` 400 for anything but a tenant id. */
export function tenantOf({ headers }: IncomingMessage): string | undefined {
  const tenant = headers[TENANT_HEADER]
  if (tenant === undefined) return undefined
  if (typeof tenant === 'string' && TENANT_ID_PATTERN.test(tenant)) return tenant
  throw new HttpError(400, `${TENANT_HEADER}: expected a tenant id, seen ${JSON.stringify(tenant)}`)
}

/** Query parameters by name; one given twice that is no list is refused, since reading either would be a guess. */
export function queryOf({ url = '' }: IncomingMessage, lists: readonly string[]): Readonly<Record<string, string>> {
  const start = url.indexOf('?')
  const parameters = new URLSearchParams(start < 0 ? '' : url.slice(start))
  const names = [...new Set(parameters.keys())]
  const twice = names.filter(name => !lists.includes(name) && parameters.getAll(name).length > 1)
  if (twice.length > 0) throw new HttpError(400, twice.map(name => `${name}: given more than once`).join('; '))
  return Object.fromEntries(names.map(name => [name, parameters.getAll(name).join(',')]))
}

/** Holds input against a schema (Decisions 7); `where` names the input as a whole, e.g. `body`. Throws `HttpError` 400 with all problems in one message. */
export function validate<T>(schema: z.ZodType<T>, input: unknown, where: string): T {
  const result = schema.safeParse(input, { reportInput: true })
  if (result.success) return result.data
  throw new HttpError(400, schemaProblems(result.error, where).join('; '))
}

/** Default limit of control requests (Decisions 7). */
export const MAX_CONTROL_BODY_BYTES = 1024 * 1024
/** Values in the lists and objects of a body. Ten thousand rows of features have fewer, and a schema makes a problem of each value that is wrong. */
const MAX_CONTROL_VALUES = 100_000

const ERRORS: BodyErrors & JsonErrors = {
  tooLarge: maxBytes => new HttpError(413, `body: expected at most ${maxBytes} bytes`),
  cutShort: cause => refused('body: expected all of it, seen the end of the connection', cause),
  tooDeep: maxDepth => refused(`body: expected at most ${maxDepth} levels of nesting`),
  notUtf8: cause => refused('body: expected JSON in UTF-8, seen bytes that are not', cause),
  // The text behind the comma is a piece of the body, which may hold a secret.
  notJson: cause => refused(`body: expected JSON, seen ${(cause as Error).message.replace(/, (\.\.\.)?".*$/s, '')}`, cause),
}

const refused = (message: string, cause?: unknown) => new HttpError(400, message, {}, { cause })

/** Answers where bodies under way take all the memory that there is for them. */
export const MEMORY_ERRORS: MemoryErrors = {
  full: (whose, usedBytes, limitBytes) =>
    tryLater(`bodies of requests${whose} under way hold ${usedBytes} bytes, the limit is ${limitBytes}; try again later`),
  slow: () => tryLater('the body came too slowly while others needed its memory; try again later'),
}

const tryLater = (message: string) => new HttpError(429, message, { 'retry-after': '1' })

/** The parsed body, `undefined` when there is none. Throws `HttpError` 400, 413 or 415. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  return parseJsonBody(await readJsonBytes(request, maxBytes))
}

/** A body of JSON that is not parsed yet. Throws `HttpError` 400, 413 or 415, and what `shared` throws. */
export async function readJsonBytes(request: IncomingMessage, maxBytes: number, shared?: SharedMemory): Promise<Buffer> {
  const bytes = await readBytes(request, maxBytes, shared)
  if (bytes.length > 0) assertJsonType(request)
  return bytes
}

/** The body as it was sent. Throws `HttpError` 400 or 413, and what `shared` throws. */
export async function readBytes(request: IncomingMessage, maxBytes: number, shared?: SharedMemory): Promise<Buffer> {
  try {
    return await readBody(request, { maxBytes, errors: ERRORS, shared })
  } finally {
    // Bytes that still come are thrown away, so that the caller gets to read the answer; the server's request timeout bounds that.
    request.resume()
  }
}

/** Undefined for no bytes at all. Throws `HttpError` 400. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (hasMoreValues(bytes, MAX_CONTROL_VALUES)) throw refused(`body: expected at most ${MAX_CONTROL_VALUES} values`)
  return parseJson(bytes, MAX_CONTROL_DEPTH, ERRORS)
}

/** A body that names no type is taken for JSON. */
function assertJsonType(request: IncomingMessage): void {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw new HttpError(415, `content-type: expected application/json, seen ${type || 'an empty one'}`)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw new HttpError(415, `content-encoding: expected identity, seen ${encoding}`)
}
