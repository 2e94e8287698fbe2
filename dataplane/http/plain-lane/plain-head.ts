/** The head of a plain request; what is not plain is left to Node's HTTP server. */
import { Buffer } from 'node:buffer'
import { isHost } from '../request-host.ts'

export interface PlainHead {
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** The header that the lane's handlers ask for beside these. */
  readonly wanted: string | undefined
  /** Where the body starts. */
  readonly bodyStart: number
  readonly bodyBytes: number
  /** Where the digits of the content length lie. */
  readonly lengthStart: number
  readonly lengthEnd: number
}

const CR = 0x0d
const LF = 0x0a
const COLON = 0x3a
const ZERO = 0x30
const NINE = 0x39
const MAX_LENGTH_DIGITS = 9
/** Longer heads are parsed each time. */
const MAX_REMEMBERED_BYTES = 1024
/** Node's own limit is 16 KiB. */
const MAX_HEAD_BYTES = 8 * 1024
/** RFC 9110: token. */
const TOKEN = tableOf(byte => /[\w!#$%&'*+.^`|~-]/.test(String.fromCharCode(byte)))
/** RFC 9110: field-value. */
const VALUE = tableOf(byte => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f))

/** Which heads are plain. */
export interface PlainForm {
  /** The first lines that there are, with their line ends. */
  readonly requestLines: readonly string[]
  /** A header that handlers ask for, in lower case; a plain request has it once or not at all. */
  readonly wantedHeader?: string | undefined
}

interface Texts {
  host?: string
  connection?: string
  type?: string
  encoding?: string
  length?: string
  wanted?: string
}

interface Fields extends Texts {
  lengthStart?: number
}

/** Headers that a plain request may carry once; `false`: none that change how it is framed or answered, or whether it may be. All others are passed over. */
const HEADERS: ReadonlyMap<string, keyof Texts | false> = new Map<string, keyof Texts | false>([
  ['host', 'host'],
  ['connection', 'connection'],
  ['content-type', 'type'],
  ['content-encoding', 'encoding'],
  ['content-length', 'length'],
  ...['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'keep-alive', 'proxy-connection', 'origin'].map(
    name => [name, false] as const,
  ),
])

/** Reads the heads of a connection, which as a rule differ in the content length alone. */
export class PlainHeads {
  readonly #form: PlainForm
  #last: { readonly head: PlainHead; readonly beforeLength: Buffer; readonly afterLength: Buffer } | undefined

  constructor(form: PlainForm) {
    this.#form = form
  }

  /** As `parsePlainHead`. */
  parse(bytes: Buffer): PlainHead | undefined {
    const again = this.#parseAgain(bytes)
    if (again !== undefined) return again
    const head = parsePlainHead(bytes, this.#form)
    if (head !== undefined && head.bodyStart <= MAX_REMEMBERED_BYTES) {
      const [beforeLength, afterLength] = [bytes.subarray(0, head.lengthStart), bytes.subarray(head.lengthEnd, head.bodyStart)].map(copyOf)
      this.#last = { head, beforeLength: beforeLength!, afterLength: afterLength! }
    }
    return head
  }

  /** The head, where it is the last one but for the digits of the length. */
  #parseAgain(bytes: Buffer): PlainHead | undefined {
    if (this.#last === undefined) return undefined
    const { head, beforeLength, afterLength } = this.#last
    if (!holdsAt(bytes, beforeLength, 0)) return undefined
    const { lengthStart } = head
    let p = lengthStart
    let bodyBytes = 0
    for (; isDigit(bytes[p]) && p < lengthStart + MAX_LENGTH_DIGITS; p++) bodyBytes = 10 * bodyBytes + bytes[p]! - ZERO
    if (p === lengthStart || !holdsAt(bytes, afterLength, p)) return undefined
    const { contentType, contentEncoding, wanted } = head
    return { contentType, contentEncoding, wanted, bodyStart: p + afterLength.length, bodyBytes, lengthStart, lengthEnd: p }
  }
}

const copyOf = (bytes: Buffer) => Buffer.from(bytes)
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE

function holdsAt(bytes: Buffer, part: Buffer, at: number): boolean {
  const end = at + part.length
  return end <= bytes.length && part.compare(bytes, at, end) === 0
}

/** The head at the start of `bytes`; undefined unless it is complete, well-formed and plain: one of the request lines, and a content length on a connection that stays. */
export function parsePlainHead(bytes: Buffer, { requestLines, wantedHeader }: PlainForm): PlainHead | undefined {
  const requestLine = requestLines.find(line => bytes.length >= line.length && bytes.toString('latin1', 0, line.length) === line)
  if (requestLine === undefined) return undefined
  const limit = Math.min(bytes.length, MAX_HEAD_BYTES)
  const fields: Fields = {}
  let p = requestLine.length
  while (bytes[p] !== CR) {
    const nameStart = p
    while (TOKEN[bytes[p]!] === 1 && p < limit) p++
    const nameEnd = p
    if (nameEnd === nameStart || bytes[p++] !== COLON) return undefined
    const valueStart = p
    while (VALUE[bytes[p]!] === 1 && p < limit) p++
    if (bytes[p] !== CR || bytes[p + 1] !== LF) return undefined
    const name = bytes.toString('latin1', nameStart, nameEnd).toLowerCase()
    if (!take(fields, name === wantedHeader ? 'wanted' : HEADERS.get(name), bytes, valueStart, p)) return undefined
    p += 2
  }
  return bytes[p + 1] === LF && p < limit ? plain(fields, p + 2) : undefined
}

/** False for a header that is given twice or that no plain request has. */
function take(fields: Fields, field: keyof Texts | false | undefined, bytes: Buffer, start: number, end: number): boolean {
  if (field === undefined) return true
  if (field === false) return false
  if (fields[field] !== undefined) return false
  const text = bytes.toString('latin1', start, end)
  fields[field] = text.trim()
  if (field === 'length') fields.lengthStart = start + text.length - text.trimStart().length
  return true
}

function plain({ host, connection, type, encoding, length, wanted, lengthStart }: Fields, bodyStart: number): PlainHead | undefined {
  if (host === undefined || !isHost(host) || length === undefined || lengthStart === undefined || !/^\d{1,9}$/.test(length))
    return undefined
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined
  const lengthEnd = lengthStart + length.length
  return { contentType: type, contentEncoding: encoding, wanted, bodyStart, bodyBytes: Number(length), lengthStart, lengthEnd }
}

function tableOf(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0))
}
