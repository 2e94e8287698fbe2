/** The JSON object that a request brings. */
import { ApiError } from '../api-error.ts'
import { isObject, type JsonObject, kindOf } from '../json/json-reader.ts'
import { parseJsonBody } from './request-body.ts'

/** The body as a JSON object, or the parameter `source` where there is none; empty without both. Throws 400 when it is anything else. */
export function readJsonObject(body: Buffer, parameters: URLSearchParams): JsonObject {
  const value = body.length === 0 ? parseSource(parameters) : parseJsonBody(body)
  if (value === undefined) return {}
  if (isObject(value)) return value
  throw new ApiError(400, 'parse_exception', `the request body must be a JSON object, found ${kindOf(value)}`)
}

/** For clients that cannot send a body with GET. */
function parseSource(parameters: URLSearchParams): unknown {
  const source = parameters.get('source')
  return source === null ? undefined : parseJsonBody(Buffer.from(source))
}
