import { HttpError } from '../../../http/http-error.ts'

/** The target of a request: a path that leads nowhere but down, and its query with the question mark, as they were sent. */
export interface RequestTarget {
  readonly path: string
  readonly query: string
}

const FORBIDDEN = /[\\\u0000-\u001f\u007f]/

/** Throws `HttpError` 400 for a target with a scheme and host, and for a path that another server may read as a different one. */
export function parseRequestTarget(url: string): RequestTarget {
  if (!url.startsWith('/')) throw new HttpError(400, 'path: expected one that begins with /, seen another form of target')
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const segments = decode(path).split('/').slice(1)
  if (FORBIDDEN.test(decode(path)) || path.includes('#')) throw new HttpError(400, 'path: expected no backslash, # or control character')
  if (segments.some(segment => segment === '.' || segment === '..'))
    throw new HttpError(400, 'path: expected no segment . or .., encoded or not')
  if (segments.slice(0, -1).includes('')) throw new HttpError(400, 'path: expected no empty segment')
  return { path, query: mark < 0 ? '' : url.slice(mark) }
}

/**
 * The target below the path that a proxy in front keeps before it (`/logs/api/session`). A proxy that takes the path away sends targets that begin without it,
 * and so do callers on this machine.
 */
export function belowBase({ path, query }: RequestTarget, basePath: string): RequestTarget {
  if (basePath === '' || (path !== basePath && !path.startsWith(`${basePath}/`))) return { path, query }
  return { path: path.slice(basePath.length) || '/', query }
}

/** Path of the URL under which users open the console, without a slash at its end. */
export function basePathOf(publicUrl: string | undefined): string {
  if (publicUrl === undefined) return ''
  const { pathname } = new URL(publicUrl)
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  return pathname.slice(0, end)
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    throw new HttpError(400, 'path: expected percent-encoded UTF-8, seen something else', {}, { cause })
  }
}
