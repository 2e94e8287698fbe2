/** One upload: from the bytes of a file to the records that the collector took (Spec: Access patterns; Decisions 7). */
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { EntrySplitter, type UploadEntry } from '../../../domain/upload/entry-splitter.ts'
import { parseEntry } from '../../../domain/upload/parse-entry.ts'
import { toLogRecord } from '../../../domain/upload/upload-record.ts'
import {
  type Addition,
  createRequestBuilder,
  type RequestBuilder,
  type RequestLimits,
  type UploadOrigin,
} from '../../../domain/upload/upload-request.ts'
import { HttpError } from '../../../http/http-error.ts'
import type { UploadSender } from './upload-sender.ts'

export interface UploadError {
  readonly line: number
  readonly error: string
}

export interface UploadResult {
  readonly batchId: string
  readonly accepted: number
  readonly rejected: number
  /** The first 20. */
  readonly errors: readonly UploadError[]
}

/** An upload that ended before its file did; what was taken until then stays. */
export class UploadFailure extends HttpError {
  readonly result: UploadResult
  constructor(cause: HttpError, result: UploadResult) {
    super(cause.status, cause.message, cause.headers, { cause })
    this.result = result
  }

  override toBody(): object {
    return { ...super.toBody(), ...this.result }
  }
}

const MAX_ERRORS = 20
const MAX_REQUEST_RECORDS = 1_000
/** Small beside what a collector takes by default, large enough for its work to be worth it. */
const MAX_REQUEST_JSON_BYTES = 1024 * 1024
/** Requests on their way to the collector, of one upload. */
const MAX_REQUESTS_UNDER_WAY = 4
/** Bytes of a message for the resource, and for the bus's own words around a record. */
const MESSAGE_OVERHEAD_BYTES = 8 * 1024

export interface UploadDeps {
  readonly collector: Pick<UploadSender, 'send'>
  readonly origin: UploadOrigin
  /** The most that the collector takes. */
  readonly maxRequestBytes: number
  readonly nowMs: number
  /** Ends the upload: the client is gone. */
  readonly signal: AbortSignal
}

/** Reads the file as fast as the collector takes it. Throws `UploadFailure`. */
export async function runUpload(file: AsyncIterable<Uint8Array>, deps: UploadDeps): Promise<UploadResult> {
  const { collector, origin, maxRequestBytes, nowMs, signal } = deps
  const limits = { recordBytes: MAX_RECORD_BYTES, requestBytes: Math.min(MAX_REQUEST_JSON_BYTES, maxRequestBytes) }
  const uploadNanos = BigInt(nowMs) * 1_000_000n
  const errors: UploadError[] = []
  let accepted = 0
  let rejected = 0
  const underWay = new Set<Promise<void>>()
  let failure: HttpError | undefined
  let next = createRequestBuilder(origin)

  const reject = (line: number, error: string, records = 1) => {
    rejected += records
    if (errors.length < MAX_ERRORS) errors.push({ line, error })
  }
  const deliver = async (request: RequestBuilder) => {
    const outcome = await collector.send(request.toJson(), signal)
    if (outcome.status === 'taken') {
      accepted += request.records - outcome.rejected
      if (outcome.rejected > 0) reject(request.firstLine, outcome.message, outcome.rejected)
    } else if (outcome.status === 'refused') {
      reject(request.firstLine, `refused${withNext(request.records - 1)}: ${outcome.message}`, request.records)
    } else
      failure ??= new HttpError(502, `the upload could not be forwarded to the collector: ${outcome.message}`, {
        ...(outcome.status === 'away' && { 'retry-after': '5' }),
      })
  }
  const flush = async () => {
    if (next.records === 0) return
    const delivery = deliver(next)
    const done: Promise<void> = delivery.then(
      () => void underWay.delete(done),
      error => {
        underWay.delete(done)
        failure ??= error
      },
    )
    underWay.add(done)
    next = createRequestBuilder(origin)
    if (underWay.size >= MAX_REQUESTS_UNDER_WAY) await Promise.race(underWay)
    if (failure !== undefined) throw failure
  }
  const take = async (entries: readonly UploadEntry[]) => {
    for (const entry of entries) {
      const parsed = 'problem' in entry ? entry : parseEntry(entry.bytes)
      if ('problem' in parsed) {
        reject(entry.line, parsed.problem)
        continue
      }
      const record = toLogRecord(parsed.entry, entry.line, uploadNanos)
      let addition = next.add(record, entry.line, limits)
      if (addition === 'full') {
        await flush()
        addition = next.add(record, entry.line, limits)
      }
      if (addition !== 'added') reject(entry.line, tooLarge(addition, limits))
      if (next.records >= MAX_REQUEST_RECORDS) await flush()
    }
  }

  try {
    const splitter = new EntrySplitter()
    for await (const chunk of file) await take(splitter.push(chunk))
    await take(splitter.end())
    await flush()
    await Promise.all(underWay)
    if (failure !== undefined) throw failure
  } catch (error) {
    await Promise.all(underWay)
    if (!(error instanceof HttpError) || accepted + rejected === 0) throw error
    throw new UploadFailure(error, { batchId: origin.batchId, accepted, rejected, errors: byLine(errors) })
  }
  if (accepted + rejected === 0)
    throw new HttpError(400, 'the upload is empty: expected a JSON array, a JSON object, or a JSON object a line')
  return { batchId: origin.batchId, accepted, rejected, errors: byLine(errors) }
}

const MAX_RECORD_BYTES = MAX_BUS_MESSAGE_BYTES - MESSAGE_OVERHEAD_BYTES

function tooLarge(addition: Addition, { recordBytes, requestBytes }: RequestLimits): string {
  if (addition === 'too large a record') return `expected a record of at most ${recordBytes} bytes as OTLP, seen a larger one`
  const why = requestBytes < MAX_REQUEST_JSON_BYTES ? ' (MAX_REQUEST_BYTES)' : ''
  return `expected an entry that fits a request of at most ${requestBytes} bytes as OTLP${why}, seen a larger one`
}

function withNext(entries: number): string {
  if (entries === 0) return ''
  return entries === 1 ? ' with the next entry' : ` with the next ${entries} entries`
}

function byLine(errors: readonly UploadError[]): readonly UploadError[] {
  return errors.toSorted((a, b) => a.line - b.line)
}
