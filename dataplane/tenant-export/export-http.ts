/** OTLP over HTTP for one tenant: the body is read within the bounds, gets its tenant, and goes to the collector (Spec: Ingestion; Decisions 7). */
import { ADDED_BYTES_HEADER } from '../contract/headers.ts'
import { type BodyErrors, readBody } from '../http/request-body.ts'
import { bufferOf } from '../memory/buffer-of.ts'
import { releaseBytes } from '../memory/release-bytes.ts'
import { MalformedPayload, OversizedPayload } from '../otlp/malformed.ts'
import { addedBytes } from '../otlp-intake/added-bytes.ts'
import { decompress, parseEncoding } from '../otlp-intake/decompress.ts'
import type { LocalCollector } from '../otlp-intake/local-collector.ts'
import type { MemoryBudget } from '../otlp-intake/memory-budget.ts'
import { Refusal, tooLarge } from '../otlp-intake/refusal.ts'
import { answerBytes, methodNotAllowed, stopReading, type TenantExchange } from '../upstream/exchange.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { DroppedAttributes } from './attribute-names.ts'
import { acceptedAnswer, isExportType, JSON_TYPE, mediaTypeOf, PROTOBUF_TYPE, refusedAnswer, TRANSPORTS } from './export-answer.ts'
import { injectTenant } from './inject-tenant.ts'
import { localExport } from './tenant-layout.ts'

export interface ExportDeps {
  /** Another process, or a part of this one. */
  readonly collector: Upstream | LocalCollector
  readonly budget: MemoryBudget
  readonly maxRequestBytes: number
  /** Attributes that go. */
  readonly dropped: DroppedAttributes
}

const ERRORS: BodyErrors = {
  tooLarge: (maxBytes, seenBytes) => tooLarge('request body', maxBytes, seenBytes),
  cutShort: () => new Refusal('malformed', 'the client hung up before the end of the request'),
}

export async function exportHttp(deps: ExportDeps, exchange: TenantExchange): Promise<void> {
  const { request, response } = exchange
  if (request.method !== 'POST') throw methodNotAllowed(request.method, 'POST')
  const type = mediaTypeOf(request.headers['content-type'])
  try {
    await passExport(deps, exchange, type)
  } catch (error) {
    const refusal = asRefusal(error)
    if (refusal === undefined) throw error
    stopReading(request)
    const { status, headers, body } = refusedAnswer(type, refusal)
    answerBytes(response, status, headers, body)
  }
}

async function passExport(
  { collector, budget, maxRequestBytes, dropped }: ExportDeps,
  exchange: TenantExchange,
  type: string,
): Promise<void> {
  const { request, response, owner } = exchange
  if (!isExportType(type))
    throw new Refusal('unsupportedType', `content-type: expected ${JSON_TYPE} or ${PROTOBUF_TYPE}, saw ${type.slice(0, 80) || 'none'}`)
  const encoding = parseEncoding(request.headers['content-encoding'])
  const lease = budget.lease(owner.tenant)
  try {
    const sent = await readBody(request, { maxBytes: maxRequestBytes, errors: ERRORS, shared: lease })
    const plain = bufferOf(await decompress(sent, encoding, maxRequestBytes, lease))
    lease.grow(plain.length)
    const injection = { tenant: owner.tenant, dropped }
    if ('accept' in collector) {
      // From here on it is in the collector's own budget.
      lease.release()
      const call = await localExport({ transport: TRANSPORTS[type], body: plain, source: request.socket }, injection)
      const { status, headers, body } = acceptedAnswer(type, await collector.accept(call))
      answerBytes(response, status, headers, body)
      return
    }
    const body = await injectTenant(TRANSPORTS[type], plain, injection)
    const headers = { 'content-encoding': undefined, [ADDED_BYTES_HEADER]: addedBytes(plain.length, body.length, maxRequestBytes) }
    if (body.buffer !== plain.buffer) releaseBytes(plain)
    // The same records become the same documents.
    await collector.forward(exchange, { path: '/v1/logs', headers, body, isRepeatable: true })
  } finally {
    lease.release()
  }
}

/** Spec: Errors. */
export const COLLECTOR_AWAY = 'the request could not be forwarded to the collector'

/** Undefined for what is no fault of the request. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof MalformedPayload) return new Refusal('malformed', error.message)
  return error instanceof OversizedPayload ? new Refusal('tooLarge', error.message) : undefined
}
