/** The head of an HTTP/2 request, checked. */
import { isHost, isSameHost } from '../request-host.ts'
import type { HeaderField } from './hpack-static-table.ts'
import { ERROR_CODE, StreamFault } from './protocol.ts'

/** The header of a request that is well-formed (RFC 9113, 8.2 and 8.3). */
export class RequestHead {
  readonly method: string
  readonly path: string
  readonly authority: string | undefined
  /** Bytes of the body, where the client says so. */
  readonly contentLength: number | undefined
  readonly #fields: readonly HeaderField[]

  constructor(fields: readonly HeaderField[]) {
    const { method, path, authority } = readPseudoFields(fields)
    this.#fields = fields
    this.method = method
    this.path = path
    this.authority = authority
    this.contentLength = parseLength(this.get('content-length'))
    const host = this.get('host')
    if (host !== undefined && (!isHost(host) || (authority !== undefined && !isSameHost(authority, host)))) throw malformed('host')
  }

  /** A header by its lower-case name; several of a name are joined. */
  get(name: string): string | undefined {
    let found: string | undefined
    for (const field of this.#fields) if (field[0] === name) found = found === undefined ? field[1] : `${found}, ${field[1]}`
    return found
  }

  /** All but the pseudo-fields, by name; several of a name are joined. */
  all(): Readonly<Record<string, string>> {
    const found = Object.create(null) as Record<string, string>
    for (const [name, value] of this.#fields) {
      if (name.charCodeAt(0) === COLON) continue
      const before = found[name]
      found[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`
    }
    return found
  }
}

/** Trailers have no use here, but have to be well-formed. Throws a `StreamFault`. */
export function checkTrailers(fields: readonly HeaderField[]): true {
  for (const [name, value] of fields) checkField(name, value)
  return true
}

interface PseudoFields {
  readonly method: string
  readonly path: string
  readonly authority: string | undefined
}

function readPseudoFields(fields: readonly HeaderField[]): PseudoFields {
  const pseudo = new Map<string, string>()
  let isPastThem = false
  for (const [name, value] of fields) {
    if (name.charCodeAt(0) !== COLON) {
      isPastThem = true
      checkField(name, value)
    } else {
      if (isPastThem || pseudo.has(name) || !PSEUDO_FIELDS.has(name)) throw malformed(name)
      checkValue(name, value)
      pseudo.set(name, value)
    }
  }
  const method = pseudo.get(':method')
  const path = pseudo.get(':path')
  if (!method || !path || !pseudo.has(':scheme')) throw malformed('no :method, :scheme or :path')
  return { method, path, authority: pseudo.get(':authority') }
}

const COLON = 0x3a
const PSEUDO_FIELDS: ReadonlySet<string> = new Set([':method', ':scheme', ':authority', ':path'])
/** Fields that belong to a connection of HTTP/1. */
const FORBIDDEN: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
/** Names that were found well-formed. */
const knownNames = new Set<string>()
const MAX_KNOWN_NAMES = 200

function checkField(name: string, value: string): void {
  if (!knownNames.has(name)) {
    if (!NAME.test(name) || FORBIDDEN.has(name)) throw malformed(name)
    if (knownNames.size < MAX_KNOWN_NAMES) knownNames.add(name)
  }
  if (name === 'te' && value !== 'trailers') throw malformed('te')
  checkValue(name, value)
}

function checkValue(name: string, value: string): void {
  for (let i = 0; i < value.length; i++) {
    const character = value.charCodeAt(i)
    if (character === 0x0a || character === 0x0d || character === 0) throw malformed(name)
  }
}

function parseLength(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (!/^\d{1,15}$/.test(header)) throw malformed('content-length')
  return Number(header)
}

const malformed = (what: string) => new StreamFault(ERROR_CODE.protocol, `malformed request: ${what.slice(0, 100)}`)
