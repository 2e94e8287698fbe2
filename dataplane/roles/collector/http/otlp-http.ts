/** OTLP over HTTP: `POST /v1/logs`. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { ADDED_BYTES_HEADER } from '../../../contract/headers.ts'
import { endAfterRequest } from '../../../http/end-after-request.ts'
import { isLedHere, LED_HERE } from '../../../http/other-site.ts'
import type { PlainAnswer } from '../../../http/plain-lane/answer-writer.ts'
import { type BodyErrors, readBody } from '../../../http/request-body.ts'
import { pathOfTarget } from '../../../http/target-path.ts'
import { parseAddedBytes } from '../../../otlp-intake/added-bytes.ts'
import { parseEncoding } from '../../../otlp-intake/decompress.ts'
import { Refusal, tooLarge } from '../../../otlp-intake/refusal.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters } from '../intake/collector-counters.ts'
import type { Intake } from '../intake/intake.ts'
import { type AnswerType, JSON_TYPE, PROTOBUF_TYPE, parseContentType, TRANSPORTS } from './content-type.ts'
import { acceptedAnswer, failedAnswer } from './http-answer.ts'

export interface OtlpHttpDeps {
  readonly intake: Intake
  readonly counters: CollectorCounters
  readonly log: Log
}

export const LOGS_PATH = '/v1/logs'
/** How long a refused client may go on sending, so that it gets to read the answer. */
const LINGER_MS = 2_000

const ERRORS: BodyErrors = {
  tooLarge: (maxBytes, seenBytes) => tooLarge('request body', maxBytes, seenBytes),
  cutShort: () => new Refusal('malformed', 'the client hung up before the end of the body'),
}

/** OTLP over HTTP: `POST /v1/logs`. */
export function createOtlpHttp(deps: OtlpHttpDeps): RequestListener {
  return (request, response) => {
    const type = parseContentType(request.headers['content-type'])
    exportLogs(deps.intake, request, response, type).catch((error: unknown) => {
      const answer = failedAnswer(deps, type, error)
      if (response.headersSent || response.destroyed) return
      if (request.complete) send(response, answer)
      else sendAfterBody(request, response, answer)
    })
  }
}

async function exportLogs(intake: Intake, request: IncomingMessage, response: ServerResponse, type: AnswerType | undefined): Promise<void> {
  checkTarget(request)
  if (isLedHere(request)) throw new Refusal('foreignPage', LED_HERE)
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
    const maxBytes = intake.maxRequestBytes + parseAddedBytes(request.headers[ADDED_BYTES_HEADER])
    body = await readBody(request, { maxBytes, errors: ERRORS, shared: lease })
  } catch (error) {
    lease.release()
    throw error
  }
  send(response, acceptedAnswer(type, await intake.accept({ transport: TRANSPORTS[type], body, encoding, lease })))
}

function send(response: ServerResponse, { status, headers, body }: PlainAnswer): void {
  response.writeHead(status, headers)
  if (body.length > 0) response.end(body)
  else response.end()
}

function sendAfterBody(request: IncomingMessage, response: ServerResponse, { status, headers, body }: PlainAnswer): void {
  response.writeHead(status, { ...headers, connection: 'close' })
  response.write(body)
  endAfterRequest(request, response, LINGER_MS)
}

function checkTarget({ url = '', method }: IncomingMessage): void {
  const path = pathOfTarget(url)
  if (path !== LOGS_PATH) throw new Refusal('notFound', `no such path: ${path.slice(0, 200)}; logs go to ${LOGS_PATH}`)
  if (method !== 'POST') throw new Refusal('methodNotAllowed', `method: expected POST, saw ${method}`)
}

function shown(header: string | undefined): string {
  return header === undefined ? 'none' : header.slice(0, 80)
}
