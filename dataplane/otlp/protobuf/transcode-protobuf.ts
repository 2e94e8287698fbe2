/** OTLP requests in protobuf, written as OTLP JSON. */
import { Buffer } from 'node:buffer'
import { Fault } from '../../json/fault.ts'
import type { AcceptOptions } from '../json/accept-json.ts'
import { KnownOrigins } from '../known-origins.ts'
import { LayoutBuilder, MAX_RECORDS, type RequestLayout } from '../layout.ts'
import { MalformedPayload } from '../malformed.ts'
import type { ResourceOwner } from '../resource-owner.ts'
import { STEP_BYTES, type Steps } from '../steps.ts'
import { UNKNOWN_TIME_KEY } from '../time-key.ts'
import { buildPiece, JsonWriter, type Piece } from '../write/json-writer.ts'
import { KNOWN_TAGS, WireReader } from './wire-reader.ts'
import { RecordTranscoder } from './wire-records.ts'
import {
  REQUEST,
  REQUEST_NAMES,
  RESOURCE,
  RESOURCE_LOGS,
  RESOURCE_LOGS_NAMES,
  RESOURCE_NAMES,
  SCOPE,
  SCOPE_LOGS,
  SCOPE_LOGS_NAMES,
  SCOPE_NAMES,
} from './wire-schema.ts'
import { ValueTranscoder } from './wire-values.ts'

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const NOWHERE = -1
/** `schemaUrl` has the same number in `ResourceLogs` and `ScopeLogs`. */
const SCHEMA_URL = SCOPE_LOGS.schemaUrl
const SERVICE_NAME = Buffer.from('service.name')
const TENANT_ID = Buffer.from('tenant_id')
const NO_RESOURCE = Buffer.from('{}')
/** A record, resource or scope with one attribute. */
const OPEN_TOO_LARGE = buildPiece('{"attributes":[{"key":"","value":{"stringValue":"')
const CLOSE_TOO_LARGE = buildPiece('"}}]}')
const knownResources = new KnownOrigins()
const knownScopes = new KnownOrigins()

export interface TranscodeOptions extends AcceptOptions {
  /** Limit of the JSON form, which may be several times larger than the request. */
  readonly maxTextBytes?: number
  /** Records, resources and scopes that are longer than so many bytes, as they come or in their JSON form, go nowhere: they, or the rest of their attributes and lists, are left out. Default: no limit. */
  readonly maxPartBytes?: number
  /** The owner of the records; a tenant in the request does not count. */
  readonly owner?: ResourceOwner | undefined
}

const MAX_TEXT_BYTES = 512 * 1024 * 1024

/** Writes an `ExportLogsServiceRequest` in protobuf as OTLP JSON and finds its parts. Throws `MalformedPayload` or `OversizedPayload`. */
export function transcodeProtobuf(request: Uint8Array, options: TranscodeOptions): RequestLayout {
  const transcoder = idle.pop() ?? new ProtobufTranscoder()
  try {
    transcoder.begin(request, options)
    transcoder.goOn(Number.POSITIVE_INFINITY)
    return transcoder.layout()
  } catch (error) {
    throw asMalformed(error)
  } finally {
    endWith(transcoder)
  }
}

/** The same, with rests. */
export function* transcodeProtobufSteps(request: Uint8Array, options: TranscodeOptions): Steps<RequestLayout> {
  const transcoder = idle.pop() ?? new ProtobufTranscoder()
  try {
    transcoder.begin(request, options)
    while (!transcoder.goOn(STEP_BYTES)) yield
    return transcoder.layout()
  } catch (error) {
    throw asMalformed(error)
  } finally {
    endWith(transcoder)
  }
}

function endWith(transcoder: ProtobufTranscoder): void {
  transcoder.end()
  if (idle.length === 0) idle.push(transcoder)
}

function asMalformed(error: unknown): unknown {
  if (!(error instanceof Fault)) return error
  return new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`)
}

/** A message with a list of messages, which is being written; a transcoder that rests goes on with the innermost. */
interface Frame {
  readonly message: Readonly<Record<string, number>>
  readonly list: number
  readonly listName: Piece
  /** Resource or scope, which stands beside the list. */
  readonly origin: number
  end: number
  /** Where its fields begin, and where its text does. */
  start: number
  outStart: number
  listStart: number
  /** The fields beside the list are not known yet. */
  isLooking: boolean
  /** The last resource or scope, and the last schema URL, in the request. */
  originAt: number
  schemaUrlAt: number
  /** Elements of the list, counted up to one too many. */
  listed: number
}

function newFrame(message: Readonly<Record<string, number>>, list: number, listName: Piece, origin: number): Frame {
  const nowhere = { end: 0, start: 0, outStart: 0, listStart: 0, originAt: NOWHERE, schemaUrlAt: NOWHERE }
  return { message, list, listName, origin, ...nowhere, isLooking: false, listed: 0 }
}

const LEVEL = { request: 0, resourceLogs: 1, scopeLogs: 2 } as const

/**
 * Writes a protobuf request as OTLP JSON in one pass, without building objects. Where a field that occurs once by its
 * schema occurs again on the wire, the last one counts; message fields are not merged.
 */
class ProtobufTranscoder {
  readonly #in = new WireReader()
  readonly #out = new JsonWriter()
  readonly #values = new ValueTranscoder(this.#in, this.#out)
  readonly #records = new RecordTranscoder(this.#in, this.#out, this.#values)
  readonly #frames = [
    newFrame(REQUEST, REQUEST.resourceLogs, REQUEST_NAMES.resourceLogs, NOWHERE),
    newFrame(RESOURCE_LOGS, RESOURCE_LOGS.scopeLogs, RESOURCE_LOGS_NAMES.scopeLogs, RESOURCE_LOGS.resource),
    newFrame(SCOPE_LOGS, SCOPE_LOGS.logRecords, SCOPE_LOGS_NAMES.logRecords, SCOPE_LOGS.scope),
  ] as const
  #level: 0 | 1 | 2 = LEVEL.request
  #layout = new LayoutBuilder()
  #maxPartBytes = Number.POSITIVE_INFINITY
  #owner: ResourceOwner | undefined
  #service: string | undefined
  #tenantId: string | undefined

  /** Begins with a request, which ends with `end`. */
  begin(
    request: Uint8Array,
    { observedTimeUnixNano, maxTextBytes = MAX_TEXT_BYTES, maxPartBytes = Number.POSITIVE_INFINITY, owner }: TranscodeOptions,
  ): void {
    this.#in.open(request)
    this.#out.begin(maxTextBytes, maxPartBytes)
    this.#records.observedTimeUnixNano = observedTimeUnixNano
    this.#owner = owner
    this.#maxPartBytes = maxPartBytes
    this.#open(LEVEL.request, request.length)
  }

  /** Reads at least so many bytes more; true at the end of the request. Throws a `Fault` or an `OversizedPayload`. */
  goOn(bytes: number): boolean {
    const input = this.#in
    let restAt = input.position + bytes
    for (;;) {
      const frame = this.#frames[this.#level]
      if (frame.isLooking) {
        if (!this.#look(frame, restAt)) return false
        restAt = input.position + bytes
      }
      const level = this.#level
      while (input.position < frame.end && this.#level === level) {
        if (input.position >= restAt) return false
        this.#element(frame)
      }
      if (this.#level !== level) continue
      this.#close(frame)
      if (level === LEVEL.request) return true
      this.#out.byte(COMMA)
      this.#level = level === LEVEL.scopeLogs ? LEVEL.resourceLogs : LEVEL.request
    }
  }

  layout(): RequestLayout {
    return this.#layout.build(this.#out.written(), [])
  }

  end(): void {
    this.#layout = new LayoutBuilder()
    this.#in.close()
    this.#out.end()
  }

  #open(level: 0 | 1 | 2, end: number): void {
    const frame = this.#frames[level]
    this.#level = level
    frame.end = end
    frame.start = this.#in.position
    frame.outStart = this.#out.position
    frame.originAt = NOWHERE
    frame.schemaUrlAt = NOWHERE
    frame.listed = 0
    frame.isLooking = level !== LEVEL.request
    this.#out.byte(OPEN_OBJECT)
    if (level === LEVEL.resourceLogs) {
      this.#service = undefined
      this.#tenantId = undefined
    }
    if (!frame.isLooking) this.#openList(frame)
  }

  /** Looks ahead for what stands beside the list, and writes that; false for a rest. */
  #look(frame: Frame, restAt: number): boolean {
    const input = this.#in
    const { end, list, origin } = frame
    while (input.position < end) {
      if (input.position >= restAt) return false
      const tag = input.tag(end)
      if (tag === origin) frame.originAt = input.position
      else if (tag === SCHEMA_URL) frame.schemaUrlAt = input.position
      else if (tag === list && ++frame.listed > MAX_RECORDS) break
      input.skip(tag, end)
    }
    frame.isLooking = false
    input.position = frame.start
    if (this.#level === LEVEL.resourceLogs) this.#beginResource(frame)
    else this.#beginScope(frame)
    this.#openList(frame)
    return true
  }

  #beginResource({ listed, originAt, end }: Frame): void {
    this.#layout.expectGroups(listed)
    if (originAt !== NOWHERE) this.#originAt(originAt, RESOURCE_LOGS_NAMES.resource, end, this.#knownResource)
    else if (this.#owner !== undefined) this.#resourceOf(this.#owner)
  }

  #beginScope({ listed, originAt, end }: Frame): void {
    this.#layout.expectRecords(listed)
    if (originAt !== NOWHERE) this.#originAt(originAt, SCOPE_LOGS_NAMES.scope, end, this.#knownScope)
  }

  #openList(frame: Frame): void {
    this.#out.piece(frame.listName)
    this.#out.byte(OPEN_LIST)
    frame.listStart = this.#out.position
  }

  /** The next element of the list, or another field, which is passed over. */
  #element({ message, list, end }: Frame): void {
    const input = this.#in
    const tag = input.tag(end)
    if (tag !== list) input.skipUnknown(message, tag, end)
    else if (this.#level === LEVEL.scopeLogs) {
      this.#logRecord(input.blockEnd(end))
      this.#out.byte(COMMA)
    } else this.#open(this.#level === LEVEL.request ? LEVEL.resourceLogs : LEVEL.scopeLogs, input.blockEnd(end))
  }

  #close({ outStart: start, listStart, schemaUrlAt, end }: Frame): void {
    const out = this.#out
    out.close(CLOSE_LIST)
    const listEnd = out.position - 1
    this.#schemaUrlAt(schemaUrlAt, end)
    out.byte(CLOSE_OBJECT)
    const textEnd = out.position
    if (this.#level === LEVEL.scopeLogs) this.#layout.addScope({ start, end: textEnd, listStart, listEnd })
    else if (this.#level === LEVEL.resourceLogs)
      this.#layout.addResource({ start, end: textEnd, listStart, listEnd, service: this.#service, tenantId: this.#tenantId })
  }

  #logRecord(end: number): void {
    const start = this.#out.position
    const timeKey = this.#isPassedOver(end) ? UNKNOWN_TIME_KEY : this.#records.logRecord(end)
    this.#layout.addRecord(start, this.#out.position, timeKey)
  }

  /** A record, resource or scope that is too large as it came is not read. What stands for it fits no message either, and is rejected with it. */
  #isPassedOver(end: number): boolean {
    if (end - this.#in.position <= this.#maxPartBytes) return false
    this.#out.piece(OPEN_TOO_LARGE)
    this.#out.spaces(this.#maxPartBytes)
    this.#out.piece(CLOSE_TOO_LARGE)
    this.#in.position = end
    return true
  }

  /** Writes the resource or scope at `position`, and returns to where it stood. */
  #originAt(position: number, name: Piece, end: number, write: (blockEnd: number) => void): void {
    const input = this.#in
    const start = input.position
    input.position = position
    this.#out.piece(name)
    write(input.blockEnd(end))
    this.#out.byte(COMMA)
    input.position = start
  }

  /** Behind the list, where the readers of `raw-logs` that parse nothing expect it. */
  #schemaUrlAt(position: number, end: number): void {
    if (position === NOWHERE) return
    this.#in.position = position
    this.#out.byte(COMMA)
    this.#out.piece(SCOPE_LOGS_NAMES.schemaUrl)
    this.#values.string(this.#in.blockEnd(end))
    this.#in.position = end
  }

  readonly #knownResource = (end: number): void => {
    const input = this.#in
    const { position } = input
    const owner = this.#owner
    const origins = owner?.known ?? knownResources
    const known = origins.find(input.view, position, end, owner?.tenantId)
    if (known === undefined) {
      const outStart = this.#out.position
      this.#resource(end)
      if (owner !== undefined) this.#rewrite(outStart, owner)
      this.#remember(origins, position, end, outStart, owner)
    } else {
      this.#out.json(known.json)
      this.#service = known.service
      this.#tenantId = known.tenantId
    }
  }

  /** The resource of records that came without one. */
  #resourceOf(owner: ResourceOwner): void {
    const out = this.#out
    out.piece(RESOURCE_LOGS_NAMES.resource)
    const start = out.position
    out.json(NO_RESOURCE)
    this.#rewrite(start, owner)
    out.byte(COMMA)
  }

  /** Makes the resource that was written from `start` on one of the owner's. */
  #rewrite(start: number, owner: ResourceOwner): void {
    const resource = owner.rewrite(this.#out.since(start))
    this.#out.rewind(start)
    this.#out.json(resource)
    this.#tenantId = owner.tenantId
  }

  readonly #knownScope = (end: number): void => {
    const input = this.#in
    const { position } = input
    const known = knownScopes.find(input.view, position, end)
    if (known === undefined) {
      const outStart = this.#out.position
      this.#scope(end)
      this.#remember(knownScopes, position, end, outStart)
    } else this.#out.json(known.json)
  }

  #remember(origins: KnownOrigins, start: number, end: number, outStart: number, owner?: ResourceOwner): void {
    const origin = { json: this.#out.since(outStart), service: this.#service, tenantId: this.#tenantId }
    origins.add(this.#in.view, start, end, origin, owner?.tenantId)
  }

  #resource(end: number): void {
    if (this.#isPassedOver(end)) return
    this.#attributed(RESOURCE, RESOURCE.attributes, RESOURCE_NAMES.attributes, end, tag => {
      if (tag === RESOURCE.droppedAttributesCount) this.#records.uint32Field(RESOURCE_NAMES.droppedAttributesCount, end)
      else this.#in.skipUnknown(RESOURCE, tag, end)
    })
  }

  #scope(end: number): void {
    if (this.#isPassedOver(end)) return
    this.#attributed(SCOPE, SCOPE.attributes, SCOPE_NAMES.attributes, end, tag => {
      if (tag === SCOPE.name) this.#values.stringField(SCOPE_NAMES.name, end)
      else if (tag === SCOPE.version) this.#values.stringField(SCOPE_NAMES.version, end)
      else if (tag === SCOPE.droppedAttributesCount) this.#records.uint32Field(SCOPE_NAMES.droppedAttributesCount, end)
      else this.#in.skipUnknown(SCOPE, tag, end)
    })
  }

  /**
   * A message of attributes and a few other fields, each written by `other`. Most resources have attributes alone: the message is searched
   * for the last of each field only once another field comes.
   */
  #attributed(message: object, attributes: number, name: Piece, end: number, other: (tag: number) => void): void {
    const input = this.#in
    const start = input.position
    let last: Int32Array | undefined
    const identify = message === RESOURCE ? this.#identify : undefined
    let attributesDone = false
    this.#out.beginPart()
    this.#out.byte(OPEN_OBJECT)
    while (input.position < end) {
      const tag = input.tag(end)
      if (tag === attributes && !attributesDone) {
        attributesDone = true
        this.#records.attributes(tag, name, end, identify)
      } else if (tag === attributes || tag >= KNOWN_TAGS) input.skip(tag, end)
      else {
        last ??= input.lastPositions(start, end)
        if (last[tag] === input.position) other(tag)
        else input.skip(tag, end)
      }
    }
    this.#out.close(CLOSE_OBJECT)
  }

  /** Takes tenant or service from the resource attribute written last. */
  readonly #identify = (): void => {
    if (this.#values.isKey(SERVICE_NAME)) this.#service = this.#values.attributeString()
    else if (this.#values.isKey(TENANT_ID)) this.#tenantId = this.#values.attributeString()
  }
}

/** The one that most requests of the thread go through: those that come while another one rests have their own. */
const idle: ProtobufTranscoder[] = []
