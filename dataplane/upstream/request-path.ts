/** The path of a request in one spelling, so that what is allowed is what the back end sees. */
import { HttpError } from '../http/http-error.ts'

export interface RequestPath {
  /** Decoded parts of the path; a slash at its end makes none. */
  readonly segments: readonly string[]
  /** With its `?`; empty when there is none. */
  readonly search: string
}

/** Bytes of a request's target. */
const MAX_TARGET_LENGTH = 8_192
/** The absolute form, which every server must take (RFC 9112, 3.2.2). Its authority chooses nothing here. */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]+(?=\/)/i

/** Throws `HttpError` 400 for a path that leads elsewhere than it says: dots, slashes and control characters in disguise, empty parts. */
export function parseRequestPath(requestTarget: string): RequestPath {
  if (requestTarget.length > MAX_TARGET_LENGTH) throw new HttpError(414, `path: expected at most ${MAX_TARGET_LENGTH} characters`)
  const target = requestTarget.replace(SCHEME_AND_AUTHORITY, '')
  if (!target.startsWith('/')) throw refused('one that begins with /')
  const cut = target.indexOf('?')
  const pathname = cut < 0 ? target : target.slice(0, cut)
  const parts = pathname.split('/').slice(1)
  if (parts.at(-1) === '') parts.pop()
  return { segments: parts.map(decode), search: cut < 0 ? '' : target.slice(cut) }
}

function decode(part: string): string {
  let text: string
  try {
    text = decodeURIComponent(part)
  } catch (cause) {
    throw new HttpError(400, 'path: expected valid percent-encoding', {}, { cause })
  }
  if (text === '') throw refused('no empty parts')
  if (text === '.' || text === '..') throw refused('no parts of dots alone')
  if (/[/\\\u0000-\u001f\u007f]/.test(text)) throw refused('no slashes, backslashes or control characters within a part')
  return text
}

function refused(expected: string): HttpError {
  return new HttpError(400, `path: expected ${expected}`)
}

/** The path for a back end. */
export function formatPath(segments: readonly string[], search = ''): string {
  return `/${segments.map(encodeURIComponent).join('/')}${search}`
}
