/** The parts of a request that are read before its route is found and handles it, and what is refused of them. */
import { HttpError } from '../../../http/http-error.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { COMMON_PARAMETERS, type Route } from '../route.ts'

export function parseUrl(text: string): URL {
  const url = URL.parse(text.startsWith('/') ? `http://search${text.replace(/^\/+/, '/')}` : text)
  if (url === null) throw illegalArgument(`malformed address [${text.slice(0, 200)}]`)
  return url
}

export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (cause instanceof URIError) throw illegalArgument(`malformed address part [${text.slice(0, 200)}]`)
    throw cause
  }
}

export function checkParameters(route: Route, query: URLSearchParams, path: string): void {
  const unknown = [...new Set(query.keys())].filter(name => !route.parameters.includes(name) && !COMMON_PARAMETERS.includes(name))
  if (unknown.length > 0)
    throw illegalArgument(
      `request [${path}] contains unrecognized parameter${unknown.length > 1 ? 's' : ''}: ${unknown.map(name => `[${name}]`).join(', ')}`,
    )
}

const OTHER_TYPES = /^application\/(yaml|cbor|smile)\s*(;|$)/i

/** Throws 400 where the client takes no JSON. */
export function checkAccepted(accept: string | undefined): void {
  if (accept !== undefined && OTHER_TYPES.test(accept.trim())) throw unsupported(`a response of type [${accept}]`)
}

const JSON_TYPES = /^application\/(json|x-ndjson|vnd\.(opensearch|elasticsearch)\+(json|x-ndjson))\s*(;|$)/i

export function checkContentType(type: string | undefined): void {
  if (type !== undefined && JSON_TYPES.test(type.trim())) return
  throw new HttpError(406, `Content-Type header [${type ?? ''}] is not supported`)
}

export function noHandler(path: string, method: string): HttpError {
  return new HttpError(400, `no handler found for uri [${path}] and method [${method}]`)
}

export function wrongMethod(path: string, method: string, methods: readonly string[]): HttpError {
  const allow = methods.join(', ')
  return new HttpError(405, `Incorrect HTTP method for uri [${path}] and method [${method}], allowed: [${allow}]`, { allow })
}
