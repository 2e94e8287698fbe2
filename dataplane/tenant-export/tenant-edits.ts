/** Where the tenant goes into OTLP JSON, and what goes out of it, as edits of its bytes: nothing is parsed but attributes that may have to go. */
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
} from '../json/bytes.ts'
import { type Range, roughEnd } from '../json/rough.ts'
import { type Edit, EditList, type RequestLayout, type ResourceSpan } from '../otlp/layout.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import { Rests, type Steps } from '../otlp/steps.ts'
import { type AttributeLevel, type DroppedAttributes, type Injection, TENANT_ATTRIBUTE } from './attribute-names.ts'

/** A place that is not as JSON of OTLP is. */
export class LostWay extends MalformedPayload {
  constructor() {
    super('request body: expected OTLP logs')
  }
}

interface Member extends Range {
  readonly name: string
}

/** Takes the way that the brackets show. Its methods throw `LostWay` where they show none. */
export class TenantEdits {
  readonly #b: Buffer
  readonly #edits = new EditList()
  readonly #attribute: string
  readonly #dropped: DroppedAttributes
  #looksIntoRecords = false
  /** Where the list of scopes ends. A list whose end is known is passed over. */
  #scopesEnd = NOWHERE

  constructor(body: Buffer, { tenant, dropped }: Injection) {
    this.#b = body
    this.#attribute = `{"key":"${TENANT_ATTRIBUTE}","value":{"stringValue":"${tenant}"}}`
    this.#dropped = dropped
  }

  /** Goes over the body once: a value is passed over where it stands, not looked for beforehand. */
  ofRequest(): readonly Edit[] {
    this.#looksIntoRecords = this.#mayHold({ start: 0, end: this.#b.length }, 'record')
    const start = skipSpace(this.#b, 0)
    const end = this.#object(start, (name, at) => {
      if (name === 'resourceLogs' || name === 'resource_logs') return this.#list(at, element => this.#resourceLogs(element))
      return this.#valueEnd(at)
    })
    if (skipSpace(this.#b, end) !== this.#b.length) throw new LostWay()
    return this.#edits.settled()
  }

  /** The same where the parts are known, with rests. Resources and records of more than `maxPartBytes` go nowhere and are not looked into. */
  *ofLayout({ resources, recordBounds, recordCount }: RequestLayout, maxPartBytes: number): Steps<readonly Edit[]> {
    yield* this.#aroundAll(resources, maxPartBytes)
    const rests = new Rests(0)
    for (let i = 0; i < recordCount; i++) {
      const start = recordBounds[2 * i]!
      if (recordBounds[2 * i + 1]! - start <= maxPartBytes) this.#logRecord(start)
      if (rests.isDue(start)) yield
    }
    return this.#edits.settled()
  }

  /** The same of records that hold nothing that has to go: looks at the bytes around the scopes alone. */
  *ofResources(spans: readonly ResourceSpan[], maxPartBytes: number): Steps<readonly Edit[]> {
    yield* this.#aroundAll(spans, maxPartBytes)
    return this.#edits.settled()
  }

  /** The whole text is a resource. */
  ofResource(): readonly Edit[] {
    if (this.#resource(0) !== this.#b.length) throw new LostWay()
    return this.#edits.settled()
  }

  *#aroundAll(spans: readonly ResourceSpan[], maxPartBytes: number): Steps<void> {
    const rests = new Rests(0)
    for (const span of spans) {
      const { start, end, listStart, listEnd } = span
      if (listStart - start + (end - listEnd) <= maxPartBytes) this.#aroundScopes(span)
      if (rests.isDue(start)) yield
    }
  }

  #aroundScopes({ start, end, listEnd }: ResourceSpan): void {
    this.#scopesEnd = listEnd + 1
    if (this.#resourceLogs(start) !== end) throw new LostWay()
  }

  #resourceLogs(start: number): number {
    let hasResource = false
    const end = this.#object(start, (name, at) => {
      // Readers pass over null.
      if (name === 'resource' && !this.#isNull(at)) {
        hasResource = true
        return this.#resource(at)
      }
      if (name !== 'scopeLogs' && name !== 'scope_logs') return this.#valueEnd(at)
      if (this.#scopesEnd !== NOWHERE && this.#b[at] === OPEN_LIST) return this.#scopesEnd
      return this.#looksIntoRecords ? this.#list(at, element => this.#scopeLogs(element)) : this.#valueEnd(at)
    })
    if (!hasResource) this.#addMember(start, end, `"resource":{"attributes":[${this.#attribute}]}`)
    return end
  }

  #resource(start: number): number {
    let hasAttributes = false
    const end = this.#object(start, (name, at) => {
      const valueEnd = this.#valueEnd(at)
      if (name !== 'attributes' || this.#isNull(at)) return valueEnd
      hasAttributes = true
      this.#attributes({ start: at, end: valueEnd }, 'resource', this.#attribute)
      return valueEnd
    })
    if (!hasAttributes) this.#addMember(start, end, `"attributes":[${this.#attribute}]`)
    return end
  }

  #scopeLogs(start: number): number {
    return this.#object(start, (name, at) => {
      if (name !== 'logRecords' && name !== 'log_records') return this.#valueEnd(at)
      return this.#list(at, element => this.#logRecord(element))
    })
  }

  #logRecord(start: number): number {
    const end = this.#valueEnd(start)
    if (this.#mayHold({ start, end }, 'record'))
      for (const member of this.#members({ start, end })) if (member.name === 'attributes') this.#attributes(member, 'record')
    return end
  }

  /** At the end of an object. */
  #addMember(start: number, end: number, member: string): void {
    const comma = skipSpace(this.#b, start + 1) === end - 1 ? '' : ','
    this.#insert(end - 1, comma + member)
  }

  /** Takes out what may not be there, and adds an attribute at the end. */
  #attributes(range: Range, level: AttributeLevel, added?: string): void {
    if (this.#isNull(range.start)) return
    if (this.#b[range.start] !== OPEN_LIST || this.#b[range.end - 1] !== CLOSE_LIST) throw new LostWay()
    const isEmpty = this.#mayHold(range, level)
      ? this.#takeOut(this.#elements(range), level)
      : this.#b[skipSpace(this.#b, range.start + 1)] === CLOSE_LIST
    if (added !== undefined) this.#insert(range.end - 1, isEmpty ? added : `,${added}`)
  }

  /** Takes out the elements that have to go, each with a comma beside it. Whether none are left. */
  #takeOut(elements: readonly Range[], level: AttributeLevel): boolean {
    let isEmpty = true
    for (const [i, element] of elements.entries()) {
      if (!this.#hasToGo(element, level)) isEmpty = false
      else if (isEmpty) this.#edits.add(element.start, elements[i + 1]?.start ?? element.end, '')
      else this.#edits.add(elements[i - 1]!.end, element.end, '')
    }
    return isEmpty
  }

  #hasToGo(range: Range, level: AttributeLevel): boolean {
    if (!this.#mayHold(range, level)) return false
    const members = this.#members(range)
    const names = this.#dropped[level]
    /** Few, however often they come. */
    const maps = new Set<string>()
    // The last of several keys that is not null counts, but none of them may be a dropped one.
    for (const member of members) {
      const key = member.name === 'key' ? this.#string(member) : undefined
      if (key === undefined) continue
      if (names.has(key)) return true
      if (names.mayHoldEntry(key)) maps.add(key)
    }
    return [...maps].some(key => this.#hasDroppedEntry(members, key, level))
  }

  #insert(at: number, text: string): void {
    this.#edits.add(at, at, text)
  }

  /** Whether the value is a map with an entry that becomes a dropped attribute: then the map goes as a whole, as no library writes such. */
  #hasDroppedEntry(members: readonly Member[], key: string, level: AttributeLevel): boolean {
    const isDropped = ({ name, ...at }: Member) => name === 'key' && this.#dropped[level].hasEntry(key, this.#string(at) ?? '')
    for (const entry of this.#mapEntries(members)) if (this.#members(entry).some(isDropped)) return true
    return false
  }

  /** The entries of the maps that an attribute with these members has as its values. */
  *#mapEntries(members: readonly Member[]): Iterable<Range> {
    for (const value of this.#opened(members, ['value'], OPEN_OBJECT))
      for (const kind of this.#opened(this.#members(value), ['kvlistValue', 'kvlist_value'], OPEN_OBJECT))
        for (const list of this.#opened(this.#members(kind), ['values'], OPEN_LIST)) yield* this.#elements(list)
  }

  /** The members with one of the names whose value begins with the bracket. */
  #opened(members: readonly Member[], names: readonly string[], bracket: number): readonly Member[] {
    return members.filter(({ name, start }) => names.includes(name) && this.#b[start] === bracket)
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

  #mayHold({ start, end }: Range, level: AttributeLevel): boolean {
    return this.#dropped[level].mayStandInJson(this.#b.subarray(start, end))
  }

  #isNull(at: number): boolean {
    return this.#b[at] === 0x6e && this.#b.toString('latin1', at, at + NULL_LENGTH) === 'null'
  }

  #members(range: Range): readonly Member[] {
    const members: Member[] = []
    const end = this.#object(range.start, (name, start) => {
      const valueEnd = this.#valueEnd(start)
      members.push({ name, start, end: valueEnd })
      return valueEnd
    })
    if (end !== range.end) throw new LostWay()
    return members
  }

  #elements({ start }: Range): readonly Range[] {
    const elements: Range[] = []
    this.#list(start, at => {
      const end = this.#valueEnd(at)
      elements.push({ start: at, end })
      return end
    })
    return elements
  }

  /** Goes over the members of the object at `open`; `visit` tells where each value ends. Returns where the object ends. */
  #object(open: number, visit: (name: string, valueStart: number) => number): number {
    const b = this.#b
    if (b[open] !== OPEN_OBJECT) throw new LostWay()
    let p = skipSpace(b, open + 1)
    if (b[p] === CLOSE_OBJECT) return p + 1
    for (;;) {
      const nameEnd = b[p] === QUOTE ? stringEnd(b, p) : NOWHERE
      if (nameEnd === NOWHERE) throw new LostWay()
      const name = hasEscape(b, p, nameEnd) ? (this.#parse({ start: p, end: nameEnd }) as string) : b.toString('utf8', p + 1, nameEnd - 1)
      const colon = skipSpace(b, nameEnd)
      if (b[colon] !== COLON) throw new LostWay()
      p = skipSpace(b, visit(name, skipSpace(b, colon + 1)))
      if (b[p] === CLOSE_OBJECT) return p + 1
      if (b[p] !== COMMA) throw new LostWay()
      p = skipSpace(b, p + 1)
    }
  }

  /** The same for the elements of a list, or for null, which has none. */
  #list(open: number, visit: (elementStart: number) => number): number {
    const b = this.#b
    if (this.#isNull(open)) return open + NULL_LENGTH
    if (b[open] !== OPEN_LIST) throw new LostWay()
    let p = skipSpace(b, open + 1)
    if (b[p] === CLOSE_LIST) return p + 1
    for (;;) {
      p = skipSpace(b, visit(p))
      if (b[p] === CLOSE_LIST) return p + 1
      if (b[p] !== COMMA) throw new LostWay()
      p = skipSpace(b, p + 1)
    }
  }

  #valueEnd(start: number): number {
    const end = roughEnd(this.#b, start)
    if (end === NOWHERE) throw new LostWay()
    return end
  }
}

const NULL_LENGTH = 4
