/** Takes in one request, from any door: memory, decompression, check, send, answer. */
import { MAX_BUS_MESSAGE_BYTES, MAX_PART_BYTES } from '../../../contract/topics.ts'
import { UNKNOWN_SERVICE } from '../../../domain/records/canonical-fields.ts'
import { busKey, tenantOfRecord } from '../../../domain/tenants/tenant.ts'
import { isRecent } from '../../../limits/is-recent.ts'
import { runInTurns } from '../../../limits/run-in-turns.ts'
import { createFairTurnstile } from '../../../limits/turns.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { findEqualKeys } from '../../../otlp/equal-keys.ts'
import type { PartialSuccess } from '../../../otlp/export-response.ts'
import { cutFragmentSteps, cutFragments, type Fragment, type Fragments } from '../../../otlp/fragments.ts'
import { acceptJson, acceptJsonSteps } from '../../../otlp/json/accept-json.ts'
import type { RequestLayout } from '../../../otlp/layout.ts'
import { MalformedPayload, OversizedPayload } from '../../../otlp/malformed.ts'
import { messageMemory } from '../../../otlp/message-memory.ts'
import { transcodeProtobuf, transcodeProtobufSteps } from '../../../otlp/protobuf/transcode-protobuf.ts'
import { allSteps, MAX_AT_ONCE_BYTES } from '../../../otlp/steps.ts'
import { decompress, type Encoding } from '../../../otlp-intake/decompress.ts'
import type { LocalExport } from '../../../otlp-intake/local-collector.ts'
import { MemoryBudget, type MemoryLease } from '../../../otlp-intake/memory-budget.ts'
import { Refusal, type RefusalReason } from '../../../otlp-intake/refusal.ts'
import { type Bus, BusError, QueueFull } from '../../../ports/bus.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { BusBatcher, type KeyedFragment } from './bus-batcher.ts'
import type { CollectorCounters, Transport } from './collector-counters.ts'
import type { Client } from './expected-clients.ts'
import { FairPace, type PaceTurns } from './fair-pace.ts'
import { numberEqualRecords } from './record-ordinals.ts'

export interface IntakeDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly counters: CollectorCounters
  /** Called with the size of each body, unpacked, bytes. */
  readonly onBody?: ((bytes: number) => void) | undefined
  /** How long records wait until they are searchable, ms; absent where that is not known: acknowledgements wait for nothing then. */
  readonly delayMs?: (() => number) | undefined
  readonly settings: {
    readonly maxRequestBytes: number
    readonly maxPendingBytes: number
    /** Tenant of resources that name none. */
    readonly tenantId: string
    readonly rawTopic: string
  }
}

export interface ReceivedRequest {
  readonly transport: Transport
  /** The body belongs to the request alone: its memory is given back as soon as the body is not needed. */
  readonly body: Uint8Array
  readonly encoding: Encoding
  readonly lease: MemoryLease
  /** The sender; absent when not known. */
  readonly client?: Client
  readonly owner?: LocalExport['owner']
  readonly arrange?: LocalExport['arrange']
}

const FORMATS = { http_json: acceptJson, http_protobuf: transcodeProtobuf, grpc: transcodeProtobuf } as const
const LONG_FORMATS = { http_json: acceptJsonSteps, http_protobuf: transcodeProtobufSteps, grpc: transcodeProtobufSteps } as const
/** Requests from so many bytes on are read one after the other: what is written of a request counts as held memory only once it is whole. */
const ONE_AT_A_TIME_BYTES = 1_048_576
/** The JSON form of a protobuf request may be so many times `maxRequestBytes`. */
const MAX_JSON_GROWTH = 2
/** Memory that a record takes beside its bytes while it is under way, estimated. */
const RECORD_OVERHEAD_BYTES = 24
/** The same for a record that may be equal to another one, and for one edit. */
const NOTED_RECORD_BYTES = 128
const EDIT_BYTES = 160
/** A body that says nothing at all, such as `{}`, deserves no warning. */
const EMPTY_BODY_BYTES = 2
/** Longest part of a service name in a bus key; longer ones may share a partition. */
const MAX_KEY_SERVICE_LENGTH = 200
/** Bytes that a record without attributes becomes, and the most bytes of its resource that a record repeats. */
const RECORD_WORK = 512
const MAX_REPEATED_BY_RECORD = 4_096
/** Work in the fragments of a request that are sent at once. */
const MAX_PART_WORK = 8_388_608
/** How long a bus counts as refusing after its last refusal. */
const REFUSING_MS = 10_000
const NO_RECORDS: PartialSuccess = {
  rejectedRecords: 0,
  message: 'the request holds no log records: expected resourceLogs[].scopeLogs[].logRecords[]',
}
const ALL_ACCEPTED: PartialSuccess = { rejectedRecords: 0, message: '' }

const BUS_REFUSALS: Readonly<Record<BusError['reason'], { readonly reason: RefusalReason; readonly message: string }>> = {
  overloaded: { reason: 'overloaded', message: 'the message bus is at its limit; try again later' },
  unavailable: { reason: 'unavailable', message: 'the message bus cannot be reached; try again later' },
  full: { reason: 'unavailable', message: 'the message bus is out of space; try again later' },
  closed: { reason: 'unavailable', message: 'the collector is stopping; try again later' },
  'record-too-large': { reason: 'tooLarge', message: 'the message bus takes no message of this size' },
}

/** Takes requests of every transport: checks, cuts, sends, and answers once the bus has acknowledged. */
export class Intake {
  readonly budget: MemoryBudget
  readonly #deps: IntakeDeps
  readonly #batcher: BusBatcher
  readonly #pace: FairPace | undefined
  readonly #oneAtATime = createFairTurnstile(1)
  #stopping = false
  #underWay = 0
  #drained: (() => void) | undefined
  #refusedAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.budget = new MemoryBudget(deps.settings.maxPendingBytes, () => monotonicMs(deps.clock))
    this.#batcher = new BusBatcher({ bus: deps.bus, topic: deps.settings.rawTopic })
    this.#pace = deps.delayMs && new FairPace({ clock: deps.clock, delayMs: deps.delayMs })
  }

  get maxRequestBytes(): number {
    return this.#deps.settings.maxRequestBytes
  }

  /** Neither stopping nor lately refused by the bus. */
  get isReady(): boolean {
    return !this.#stopping && !isRecent(this.#refusedAtMs, REFUSING_MS, this.#deps.clock.nowMs())
  }

  get isOpen(): boolean {
    return !this.#stopping
  }

  /** Throws a `Refusal` while stopping; called before a body is read. */
  checkOpen(): void {
    if (this.#stopping) throw new Refusal('unavailable', 'the collector is stopping; try again later')
  }

  /** From now on requests are refused; resolves once those under way are answered. */
  async drain(): Promise<void> {
    this.#stopping = true
    if (this.#underWay > 0) await new Promise<void>(resolve => (this.#drained = resolve))
  }

  /** Resolves once every record is durable or rejected for good, and it is the tenants' turn. Throws a `Refusal`. Releases the lease. */
  async accept(request: ReceivedRequest): Promise<PartialSuccess> {
    this.#underWay++
    try {
      let taken: Taken
      try {
        taken = await this.#take(request)
      } finally {
        request.lease.release()
      }
      const turn = taken.turns?.next()
      if (turn !== undefined) await turn
      return taken.success
    } finally {
      if (--this.#underWay === 0) this.#drained?.()
    }
  }

  async #take(request: ReceivedRequest): Promise<Taken> {
    this.checkOpen()
    const { transport, encoding, lease } = request
    this.#deps.counters.received(transport, request.body.length)
    const body = encoding === 'identity' ? request.body : await decompress(request.body, encoding, this.maxRequestBytes, lease)
    const bodyBytes = body.length
    this.#deps.onBody?.(bodyBytes)
    const layout = await refusing(() => this.#layoutOf(request, body))
    if (layout.text !== body) releaseBytes(body)
    if (layout.recordCount === 0) return { success: bodyBytes > EMPTY_BODY_BYTES ? NO_RECORDS : ALL_ACCEPTED }
    lease.grow(layout.recordCount * RECORD_OVERHEAD_BYTES + (layout.text === body ? 0 : layout.text.length))
    const marked = findEqualKeys(layout.timeKeys)
    const numbered = marked === undefined ? layout : await this.#numbered(layout, marked, lease)
    if (numbered.edits.length > 0) lease.grow(numbered.edits.length * EDIT_BYTES + layout.text.length)
    const { fragments, rejectedRecords, repeatedBytes } = await refusing(() => cut(numbered))
    lease.grow(repeatedBytes)
    const turns = this.#turnsOf(fragments)
    const giveBack = () => (layout.text === body ? releaseBytes(body) : messageMemory.giveBack(layout.text))
    let refused = 0
    try {
      for (const part of turns === undefined || fragments.length === 1 ? [{ start: 0, fragments }] : partsOf(fragments)) {
        if (part.start > 0) await turns?.next()
        this.#noteWork(part.fragments)
        if (part.fragments.length > 0) refused += await this.#batcher.send(this.#keyed(part.fragments), request.client)
      }
    } catch (error) {
      // In any other case the bus may still read it.
      if (error instanceof QueueFull) giveBack()
      throw this.#refusalOf(error)
    }
    if (fragments.length > 0) this.#noteTaken()
    giveBack()
    return { success: this.#count(transport, layout.recordCount, rejectedRecords + refused), turns }
  }

  #turnsOf(fragments: readonly Fragment[]): PaceTurns | undefined {
    return this.#pace?.turnsOf(
      () => new Set(fragments.map(fragment => this.#tenantOf(fragment))),
      () => this.#stopping,
    )
  }

  #noteWork(fragments: readonly Fragment[]): void {
    if (this.#pace !== undefined) for (const fragment of fragments) this.#pace.note(this.#tenantOf(fragment), workOf(fragment))
  }

  #tenantOf({ resource }: Fragment): string {
    return tenantOfRecord(resource.tenantId, this.#deps.settings.tenantId)
  }

  #numbered(layout: RequestLayout, marked: Uint8Array, lease: MemoryLease): Promise<RequestLayout> {
    let count = 0
    for (const mark of marked) count += mark
    lease.grow(count * NOTED_RECORD_BYTES)
    return runInTurns(numberEqualRecords(layout, marked))
  }

  #count(transport: Transport, records: number, rejected: number): PartialSuccess {
    this.#deps.counters.accepted(transport, records - rejected, rejected)
    if (rejected === 0) return ALL_ACCEPTED
    return {
      rejectedRecords: rejected,
      message: `${rejected} log ${rejected === 1 ? 'record is' : 'records are'} larger than the ${MAX_BUS_MESSAGE_BYTES} bytes of a bus message`,
    }
  }

  async #layoutOf({ transport, owner, arrange }: ReceivedRequest, body: Uint8Array): Promise<RequestLayout> {
    const options = {
      observedTimeUnixNano: `${this.#deps.clock.nowMs()}000000`,
      maxTextBytes: MAX_JSON_GROWTH * this.maxRequestBytes,
      maxPartBytes: MAX_PART_BYTES,
      owner,
    }
    if (body.length <= MAX_AT_ONCE_BYTES) {
      const layout = FORMATS[transport](body, options)
      return arrange === undefined ? layout : allSteps(arrange(layout))
    }
    const read = () => runInTurns(LONG_FORMATS[transport](body, options))
    const layout = await (body.length < ONE_AT_A_TIME_BYTES ? read() : this.#oneAtATime(owner?.tenantId ?? '', read))
    return arrange === undefined ? layout : runInTurns(arrange(layout))
  }

  #keyed(fragments: readonly Fragment[]): readonly KeyedFragment[] {
    const { tenantId } = this.#deps.settings
    return fragments.map(fragment => ({ key: keyOf(fragment, tenantId), fragment }))
  }

  #refusalOf(error: unknown): Refusal {
    const reason = error instanceof BusError ? error.reason : 'unavailable'
    if (reason !== 'overloaded') {
      if (this.isReady) this.#deps.log.error({ error, reason }, 'the message bus refuses log records')
      this.#refusedAtMs = this.#deps.clock.nowMs()
    }
    const refusal = BUS_REFUSALS[reason]
    return new Refusal(refusal.reason, refusal.message)
  }

  /** The bus has taken records. */
  #noteTaken(): void {
    if (this.#refusedAtMs === Number.NEGATIVE_INFINITY) return
    this.#deps.log.warn({}, 'the message bus takes log records again')
    this.#refusedAtMs = Number.NEGATIVE_INFINITY
  }
}

interface Taken {
  readonly success: PartialSuccess
  readonly turns?: PaceTurns | undefined
}

/** The parts of a request, each of fragments that are sent together. A request that becomes much is sent in several parts. */
function* partsOf(fragments: readonly Fragment[]): Generator<{ readonly start: number; readonly fragments: readonly Fragment[] }> {
  let start = 0
  while (start < fragments.length) {
    let end = start
    let work = 0
    while (end < fragments.length && (end === start || work < MAX_PART_WORK)) work += workOf(fragments[end++]!)
    yield { start, fragments: start === 0 && end === fragments.length ? fragments : fragments.slice(start, end) }
    start = end
  }
}

/** An estimate of the bytes that the records of a fragment become, each with the attributes of its resource. */
function workOf({ resource, sizeBytes, recordCount }: Fragment): number {
  const { start, listStart, listEnd, end } = resource
  const repeated = Math.min(listStart - start + end - listEnd, MAX_REPEATED_BY_RECORD)
  return 2 * sizeBytes + recordCount * (RECORD_WORK + 2 * repeated)
}

function cut(layout: RequestLayout): Fragments | Promise<Fragments> {
  if (layout.text.length <= MAX_AT_ONCE_BYTES) return cutFragments(layout, MAX_BUS_MESSAGE_BYTES)
  return runInTurns(cutFragmentSteps(layout, MAX_BUS_MESSAGE_BYTES))
}

/** A fault of a payload refuses its request. */
async function refusing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MalformedPayload) throw new Refusal('malformed', error.message)
    if (error instanceof OversizedPayload) throw new Refusal('tooLarge', error.message)
    throw error
  }
}

function keyOf({ resource }: Fragment, defaultTenant: string): string {
  const service = resource.service === undefined || resource.service === '' ? UNKNOWN_SERVICE : resource.service
  return busKey(tenantOfRecord(resource.tenantId, defaultTenant), service.slice(0, MAX_KEY_SERVICE_LENGTH).toWellFormed())
}
