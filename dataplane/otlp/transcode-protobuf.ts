/** OTLP requests in protobuf, written as OTLP JSON. */
import { Buffer } from 'node:buffer'
import { Fault } from '../json/fault.ts'
import type { AcceptOptions } from './accept-json.ts'
import { buildPiece, JsonWriter, type Piece } from './json-writer.ts'
import { KnownOrigins } from './known-origins.ts'
import { LayoutBuilder, MAX_RECORDS, type RequestLayout } from './layout.ts'
import { MalformedPayload } from './malformed.ts'
import type { ResourceOwner } from './resource-owner.ts'
import { allSteps, STEP_BYTES, type Steps } from './steps.ts'
import { UNKNOWN_TIME_KEY } from './time-key.ts'
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
  /** Whose the records are, whatever the request says. */
  readonly owner?: ResourceOwner | undefined
}

const MAX_TEXT_BYTES = 512 * 1024 * 1024

/** Writes an `ExportLogsServiceRequest` in protobuf as OTLP JSON and finds its parts. Throws `MalformedPayload` or `OversizedPayload`. */
export function transcodeProtobuf(request: Uint8Array, options: TranscodeOptions): RequestLayout {
  return allSteps(transcodingSteps(request, options))
}

/** The same, with rests. */
export function* transcodingSteps(request: Uint8Array, options: TranscodeOptions): Steps<RequestLayout> {
  const transcoder = idle.pop() ?? new ProtobufTranscoder()
  try {
    return yield* transcoder.transcode(request, options)
  } catch (error) {
    if (error instanceof Fault)
      throw new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`)
    throw error
  } finally {
    if (idle.length === 0) idle.push(transcoder)
  }
}

/**
 * Writes a protobuf request as OTLP JSON in one pass, without building objects. Where a field that occurs once by its
 * schema occurs again on the wire, the last one counts; message fields are not merged.
 */
class ProtobufTranscoder {
  readonly #in = new WireReader()
  readonly #out = new JsonWriter()
  readonly #values = new ValueTranscoder(this.#in, this.#out)
  readonly #records = new RecordTranscoder(this.#in, this.#out, this.#values)
  readonly #writeResource = (end: number) => this.#resourceLogs(end)
  readonly #writeScope = (end: number) => this.#scopeLogs(end)
  #layout = new LayoutBuilder()
  #maxPartBytes = Number.POSITIVE_INFINITY
  #owner: ResourceOwner | undefined
  #service: string | undefined
  #tenantId: string | undefined;

  /** Throws a `Fault` or an `OversizedPayload`. */
  *transcode(
    request: Uint8Array,
    { observedTimeUnixNano, maxTextBytes = MAX_TEXT_BYTES, maxPartBytes = Number.POSITIVE_INFINITY, owner }: TranscodeOptions,
  ): Steps<RequestLayout> {
    const out = this.#out
    this.#in.open(request)
    out.begin(maxTextBytes, maxPartBytes)
    this.#records.observedTimeUnixNano = observedTimeUnixNano
    this.#owner = owner
    this.#maxPartBytes = maxPartBytes
    try {
      out.byte(OPEN_OBJECT)
      yield* this.#list(REQUEST, REQUEST.resourceLogs, REQUEST_NAMES.resourceLogs, request.length, this.#writeResource)
      out.byte(CLOSE_OBJECT)
      return this.#layout.build(out.written(), [])
    } finally {
      this.#layout = new LayoutBuilder()
      this.#in.close()
      out.end()
    }
  }

  *#resourceLogs(end: number): Steps<void> {
    const out = this.#out
    const start = out.position
    this.#service = undefined
    this.#tenantId = undefined
    out.byte(OPEN_OBJECT)
    const { origin, schemaUrl, listed } = yield* this.#beside(RESOURCE_LOGS.resource, RESOURCE_LOGS.scopeLogs, end)
    this.#layout.expectGroups(listed)
    if (origin !== NOWHERE) this.#originAt(origin, RESOURCE_LOGS_NAMES.resource, end, this.#knownResource)
    else if (this.#owner !== undefined) this.#resourceOf(this.#owner)
    const list = yield* this.#list(RESOURCE_LOGS, RESOURCE_LOGS.scopeLogs, RESOURCE_LOGS_NAMES.scopeLogs, end, this.#writeScope)
    this.#schemaUrlAt(schemaUrl, end)
    out.byte(CLOSE_OBJECT)
    this.#layout.addResource({ start, end: out.position, ...list, service: this.#service, tenantId: this.#tenantId })
  }

  *#scopeLogs(end: number): Steps<void> {
    const out = this.#out
    const start = out.position
    out.byte(OPEN_OBJECT)
    const { origin, schemaUrl, listed } = yield* this.#beside(SCOPE_LOGS.scope, SCOPE_LOGS.logRecords, end)
    this.#layout.expectRecords(listed)
    if (origin !== NOWHERE) this.#originAt(origin, SCOPE_LOGS_NAMES.scope, end, this.#knownScope)
    const list = yield* this.#list(SCOPE_LOGS, SCOPE_LOGS.logRecords, SCOPE_LOGS_NAMES.logRecords, end, this.#logRecord)
    this.#schemaUrlAt(schemaUrl, end)
    out.byte(CLOSE_OBJECT)
    this.#layout.addScope({ start, end: out.position, ...list })
  }

  readonly #logRecord = (end: number): undefined => {
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

  /** Writes the fields with this tag as a list; returns where its elements lie. */
  *#list(
    message: Readonly<Record<string, number>>,
    wanted: number,
    name: Piece,
    end: number,
    write: (blockEnd: number) => Steps<void> | undefined,
  ): Steps<{ readonly listStart: number; readonly listEnd: number }> {
    const out = this.#out
    const input = this.#in
    let restAt = input.position + STEP_BYTES
    out.piece(name)
    out.byte(OPEN_LIST)
    const listStart = out.position
    while (input.position < end) {
      const tag = input.tag(end)
      if (tag === wanted) {
        const steps = write(input.blockEnd(end))
        if (steps !== undefined) yield* steps
        out.byte(COMMA)
      } else input.skipUnknown(message, tag, end)
      if (input.position >= restAt) {
        restAt = input.position + STEP_BYTES
        yield
      }
    }
    out.close(CLOSE_LIST)
    return { listStart, listEnd: out.position - 1 }
  }

  /** Looks ahead for the last resource or scope and the last schema URL, which stand beside the list, counts the list's elements up to one too many, and returns to where it stood. */
  *#beside(
    wanted: number,
    list: number,
    end: number,
  ): Steps<{ readonly origin: number; readonly schemaUrl: number; readonly listed: number }> {
    const input = this.#in
    const start = input.position
    let restAt = start + STEP_BYTES
    let origin = NOWHERE
    let schemaUrl = NOWHERE
    let listed = 0
    while (input.position < end) {
      const tag = input.tag(end)
      if (tag === wanted) origin = input.position
      else if (tag === SCHEMA_URL) schemaUrl = input.position
      else if (tag === list && ++listed > MAX_RECORDS) break
      input.skip(tag, end)
      if (input.position >= restAt) {
        restAt = input.position + STEP_BYTES
        yield
      }
    }
    input.position = start
    return { origin, schemaUrl, listed }
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
