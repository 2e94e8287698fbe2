/** Puts the tenant into OTLP JSON, by its bytes: what is not changed is copied, and nothing is parsed but attributes that may have to go. */
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  hasEscape,
  NOWHERE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../../../json/bytes.ts'
import { type Range, roughElements, roughEnd } from '../../../json/rough.ts'
import { acceptJson } from '../../../otlp/accept-json.ts'
import { MalformedPayload } from '../../../otlp/malformed.ts'
import { type AttributeLevel, isDropped, isDroppedEntry, TELLTALES, TENANT_ATTRIBUTE } from './attribute-names.ts'
import { Pieces } from './pieces.ts'

/** Takes the way that the brackets show; the collector checks the rest. Throws `MalformedPayload` or `OversizedPayload` where they show none. */
export function injectJson(body: Buffer, tenant: string): Buffer {
  try {
    return new JsonInjector(body, tenant).inject()
  } catch (error) {
    if (!(error instanceof LostWay)) throw error
    // It is said in the collector's words.
    acceptJson(body, { observedTimeUnixNano: '0' })
    throw new MalformedPayload('request body: expected OTLP logs in JSON', { cause: error })
  }
}

/** A place that is not as JSON of OTLP is. */
class LostWay extends Error {}

interface Member extends Range {
  readonly name: string
}

class JsonInjector {
  readonly #b: Buffer
  readonly #pieces: Pieces
  readonly #attribute: string
  readonly #looksIntoRecords: boolean

  constructor(body: Buffer, tenant: string) {
    this.#b = body
    this.#pieces = new Pieces(body)
    this.#attribute = `{"key":"${TENANT_ATTRIBUTE}","value":{"stringValue":"${tenant}"}}`
    this.#looksIntoRecords = this.#mayHold({ start: 0, end: body.length }, 'record')
  }

  inject(): Buffer {
    const start = skipSpace(this.#b, 0)
    const end = roughEnd(this.#b, start)
    if (end === NOWHERE || this.#b[start] !== OPEN_OBJECT || skipSpace(this.#b, end) !== this.#b.length) throw new LostWay()
    for (const member of this.#members({ start, end }))
      if (member.name === 'resourceLogs' || member.name === 'resource_logs') for (const item of this.#list(member)) this.#resourceLogs(item)
    return this.#pieces.finish()
  }

  #resourceLogs(range: Range): void {
    const members = this.#members(range)
    const hasResource = members.some(({ name }) => name === 'resource')
    if (!hasResource) {
      const comma = members.length === 0 ? '' : ','
      this.#pieces.insert(range.start + 1, Buffer.from(`"resource":{"attributes":[${this.#attribute}]}${comma}`))
    }
    for (const member of members) {
      if (member.name === 'resource') this.#resource(member)
      else if (this.#looksIntoRecords && (member.name === 'scopeLogs' || member.name === 'scope_logs'))
        for (const scope of this.#list(member)) this.#scopeLogs(scope)
    }
  }

  #resource(range: Range): void {
    if (this.#isNull(range)) {
      this.#pieces.replace(range.start, range.end, Buffer.from(`{"attributes":[${this.#attribute}]}`))
      return
    }
    const members = this.#members(range)
    const lists = members.filter(({ name }) => name === 'attributes')
    if (lists.length === 0) {
      const comma = members.length === 0 ? '' : ','
      this.#pieces.insert(range.start + 1, Buffer.from(`"attributes":[${this.#attribute}]${comma}`))
    }
    for (const list of lists) this.#attributes(list, 'resource', this.#attribute)
  }

  #scopeLogs(range: Range): void {
    for (const member of this.#members(range)) {
      if (member.name !== 'logRecords' && member.name !== 'log_records') continue
      for (const record of this.#list(member)) {
        if (!this.#mayHold(record, 'record')) continue
        for (const inner of this.#members(record)) if (inner.name === 'attributes') this.#attributes(inner, 'record')
      }
    }
  }

  /** Takes out what may not be there, and adds an attribute at the end. */
  #attributes(range: Range, level: AttributeLevel, added?: string): void {
    if (this.#isNull(range)) {
      if (added !== undefined) this.#pieces.replace(range.start, range.end, Buffer.from(`[${added}]`))
      return
    }
    if (!this.#mayHold(range, level)) {
      if (added === undefined) return
      const isEmpty = this.#b[skipSpace(this.#b, range.start + 1)] === CLOSE_LIST
      if (this.#b[range.start] !== OPEN_LIST || this.#b[range.end - 1] !== CLOSE_LIST) throw new LostWay()
      this.#pieces.insert(range.end - 1, Buffer.from(isEmpty ? added : `,${added}`))
      return
    }
    const kept: Buffer[] = []
    let isChanged = false
    for (const element of this.#list(range)) {
      const as = this.#keptAttribute(element, level)
      if (as !== undefined) kept.push(as)
      if (as === undefined || as.length !== element.end - element.start) isChanged = true
    }
    if (added !== undefined) kept.push(Buffer.from(added))
    else if (!isChanged) return
    const parts = kept.flatMap((part, i) => (i === 0 ? [part] : [COMMA_BYTES, part]))
    this.#pieces.replace(range.start, range.end, Buffer.concat([LIST_START, ...parts, LIST_END]))
  }

  /** Undefined for one that has to go; a map may lose entries. */
  #keptAttribute(range: Range, level: AttributeLevel): Buffer | undefined {
    const bytes = this.#b.subarray(range.start, range.end)
    if (!this.#mayHold(range, level)) return bytes
    const members = this.#members(range)
    // Of keys given twice the last that is not null counts. Neither may be a dropped one.
    for (const member of members) {
      const key = member.name === 'key' ? this.#string(member) : undefined
      if (key !== undefined && (isDropped(key, level) || this.#hasDroppedEntry(members, key, level))) return undefined
    }
    return bytes
  }

  /** Whether the value is a map with an entry that becomes a dropped attribute: then the map goes as a whole, as no library writes such. */
  #hasDroppedEntry(members: readonly Member[], key: string, level: AttributeLevel): boolean {
    for (const value of members) {
      if (value.name !== 'value' || this.#b[value.start] !== OPEN_OBJECT) continue
      for (const kind of this.#members(value)) {
        if ((kind.name !== 'kvlistValue' && kind.name !== 'kvlist_value') || this.#b[kind.start] !== OPEN_OBJECT) continue
        for (const list of this.#members(kind)) {
          if (list.name !== 'values' || this.#b[list.start] !== OPEN_LIST) continue
          for (const entry of this.#list(list))
            for (const { name, ...at } of this.#members(entry))
              if (name === 'key' && isDroppedEntry(key, this.#string(at) ?? '', level)) return true
        }
      }
    }
    return false
  }

  #string(range: Range | undefined): string | undefined {
    if (range === undefined || this.#b[range.start] !== QUOTE) return undefined
    return this.#parse(range) as string
  }

  #parse({ start, end }: Range): unknown {
    try {
      return JSON.parse(this.#b.toString('utf8', start, end))
    } catch {
      throw new LostWay()
    }
  }

  /** Whether one of the names may stand between two positions, be it with escapes. */
  #mayHold({ start, end }: Range, level: AttributeLevel): boolean {
    const bytes = this.#b.subarray(start, end)
    return TELLTALES[level].some(text => bytes.includes(text)) || bytes.includes('\\u')
  }

  #isNull({ start, end }: Range): boolean {
    return end - start === 4 && this.#b.toString('latin1', start, end) === 'null'
  }

  #members({ start, end }: Range): readonly Member[] {
    const b = this.#b
    if (b[start] !== OPEN_OBJECT || b[end - 1] !== CLOSE_OBJECT) throw new LostWay()
    const members: Member[] = []
    let p = skipSpace(b, start + 1)
    if (p === end - 1) return members
    for (;;) {
      const nameEnd = b[p] === QUOTE ? stringEnd(b, p, end) : NOWHERE
      if (nameEnd === NOWHERE) throw new LostWay()
      const name = hasEscape(b, p, nameEnd) ? (this.#parse({ start: p, end: nameEnd }) as string) : b.toString('utf8', p + 1, nameEnd - 1)
      const colon = skipSpace(b, nameEnd)
      if (b[colon] !== COLON) throw new LostWay()
      const valueStart = skipSpace(b, colon + 1)
      const valueEnd = roughEnd(b, valueStart, end)
      if (valueEnd === NOWHERE) throw new LostWay()
      members.push({ name, start: valueStart, end: valueEnd })
      p = skipSpace(b, valueEnd)
      if (p === end - 1) return members
      if (b[p] !== COMMA) throw new LostWay()
      p = skipSpace(b, p + 1)
    }
  }

  *#list(range: Range): Generator<Range> {
    if (this.#isNull(range)) return
    if (this.#b[range.start] !== OPEN_LIST || this.#b[range.end - 1] !== CLOSE_LIST) throw new LostWay()
    for (const element of roughElements(this.#b, range)) {
      if (element === undefined) throw new LostWay()
      yield element
    }
  }
}

const LIST_START = Buffer.from('[')
const LIST_END = Buffer.from(']')
const COMMA_BYTES = Buffer.from(',')
