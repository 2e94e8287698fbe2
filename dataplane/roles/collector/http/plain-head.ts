/** The head of a plain export request; what is not plain is left to Node's HTTP server. */
import type { Buffer } from 'node:buffer'

export interface PlainHead {
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** Where the body starts. */
  readonly bodyStart: number
  readonly bodyBytes: number
}

const REQUEST_LINE = 'POST /v1/logs HTTP/1.1\r\n'
const CR = 0x0d
const LF = 0x0a
const COLON = 0x3a
/** Node's own limit is 16 KiB. */
const MAX_HEAD_BYTES = 8 * 1024
/** RFC 9110: token. */
const TOKEN = tableOf(byte => /[\w!#$%&'*+.^`|~-]/.test(String.fromCharCode(byte)))
/** RFC 9110: field-value. */
const VALUE = tableOf(byte => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f))

interface Fields {
  host?: string
  connection?: string
  type?: string
  encoding?: string
  length?: string
}

/** Headers that a plain request may carry once; `false`: none that change how it is framed or answered. All others are passed over. */
const HEADERS: ReadonlyMap<string, keyof Fields | false> = new Map<string, keyof Fields | false>([
  ['host', 'host'],
  ['connection', 'connection'],
  ['content-type', 'type'],
  ['content-encoding', 'encoding'],
  ['content-length', 'length'],
  ...['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'keep-alive', 'proxy-connection'].map(name => [name, false] as const),
])

/** The head at the start of `bytes`; undefined unless it is complete, well-formed and plain: `POST /v1/logs` with a content length on a connection that stays. */
export function parsePlainHead(bytes: Buffer): PlainHead | undefined {
  if (bytes.length < REQUEST_LINE.length || bytes.toString('latin1', 0, REQUEST_LINE.length) !== REQUEST_LINE) return undefined
  const limit = Math.min(bytes.length, MAX_HEAD_BYTES)
  const fields: Fields = {}
  let p = REQUEST_LINE.length
  while (bytes[p] !== CR) {
    const nameStart = p
    while (TOKEN[bytes[p]!] === 1 && p < limit) p++
    const nameEnd = p
    if (nameEnd === nameStart || bytes[p++] !== COLON) return undefined
    const valueStart = p
    while (VALUE[bytes[p]!] === 1 && p < limit) p++
    if (bytes[p] !== CR || bytes[p + 1] !== LF) return undefined
    if (!take(fields, bytes.toString('latin1', nameStart, nameEnd).toLowerCase(), bytes, valueStart, p)) return undefined
    p += 2
  }
  return bytes[p + 1] === LF && p < limit ? plain(fields, p + 2) : undefined
}

/** False for a header that is given twice or that no plain request has. */
function take(fields: Fields, name: string, bytes: Buffer, start: number, end: number): boolean {
  const field = HEADERS.get(name)
  if (field === undefined) return true
  if (field === false) return false
  if (fields[field] !== undefined) return false
  fields[field] = bytes.toString('latin1', start, end).trim()
  return true
}

function plain({ host, connection, type, encoding, length }: Fields, bodyStart: number): PlainHead | undefined {
  if (host === undefined || length === undefined || !/^\d{1,9}$/.test(length)) return undefined
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined
  return { contentType: type, contentEncoding: encoding, bodyStart, bodyBytes: Number(length) }
}

function tableOf(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0))
}
