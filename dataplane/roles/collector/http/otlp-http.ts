import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters, Transport } from '../intake/collector-counters.ts'
import { parseEncoding } from '../intake/decompress.ts'
import type { Intake } from '../intake/intake.ts'
import { Refusal } from '../intake/refusal.ts'
import { type AnswerType, answerAccepted, answerRefused, JSON_TYPE, PROTOBUF_TYPE } from './http-answer.ts'
import { readBody } from './request-body.ts'

export interface OtlpHttpDeps {
  readonly intake: Intake
  readonly counters: CollectorCounters
  readonly log: Log
}

const LOGS_PATH = '/v1/logs'
const TRANSPORTS: Readonly<Record<AnswerType, Transport>> = { [JSON_TYPE]: 'http_json', [PROTOBUF_TYPE]: 'http_protobuf' }

/** OTLP over HTTP: `POST /v1/logs`. */
export function createOtlpHttp({ intake, counters, log }: OtlpHttpDeps): RequestListener {
  return (request, response) => {
    const type = contentTypeOf(request)
    exportLogs(intake, request, response, type).catch((error: unknown) => {
      if (!(error instanceof Refusal)) log.error({ error }, 'request failed')
      const refusal =
        error instanceof Refusal ? error : new Refusal('unavailable', 'the collector could not take this request; try again later')
      if (type !== undefined) counters.refused(TRANSPORTS[type], refusal.reason)
      if (!response.headersSent && !response.destroyed) answerRefused(request, response, type ?? JSON_TYPE, refusal)
    })
  }
}

async function exportLogs(intake: Intake, request: IncomingMessage, response: ServerResponse, type: AnswerType | undefined): Promise<void> {
  checkTarget(request)
  if (type === undefined)
    throw new Refusal(
      'unsupportedType',
      `content-type: expected ${JSON_TYPE} or ${PROTOBUF_TYPE}, saw ${shown(request.headers['content-type'])}`,
    )
  const encoding = parseEncoding(request.headers['content-encoding'])
  intake.checkOpen()
  const lease = intake.budget.lease()
  let body: Uint8Array
  try {
    body = await readBody(request, intake.maxRequestBytes, lease)
  } catch (error) {
    lease.release()
    throw error
  }
  answerAccepted(response, type, await intake.accept({ transport: TRANSPORTS[type], body, encoding, lease }))
}

function checkTarget({ url = '', method }: IncomingMessage): void {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  if (path !== LOGS_PATH) throw new Refusal('notFound', `no such path: ${path.slice(0, 200)}; logs go to ${LOGS_PATH}`)
  if (method !== 'POST') throw new Refusal('methodNotAllowed', `method: expected POST, saw ${method}`)
}

/** Parameters such as charset are left aside. */
function contentTypeOf({ headers }: IncomingMessage): AnswerType | undefined {
  const [name = ''] = (headers['content-type'] ?? '').split(';', 1)
  const type = name.trim().toLowerCase()
  return type === JSON_TYPE || type === PROTOBUF_TYPE ? type : undefined
}

function shown(header: string | undefined): string {
  return header === undefined ? 'none' : header.slice(0, 80)
}
