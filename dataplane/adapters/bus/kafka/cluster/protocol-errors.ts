/** Error codes of Kafka and errors of the library: their names, whether they pass, what the caller of the bus gets. */
import { BusError } from '../../../../ports/bus.ts'
import { kafkaError } from '../both-clients/kafka-errors.ts'
import { protocolErrors, protocolErrorsCodesById, ResponseError } from '../library.ts'

/** The name of an error code; undefined for 0, which is none. */
export function codeName(code: number): string | undefined {
  if (code === 0) return undefined
  return (protocolErrorsCodesById as Readonly<Record<number, string>>)[code] ?? `UNKNOWN_SERVER_ERROR (${code})`
}

/** Every error code in what a request was rejected with; none when there was no answer. */
export function codesOf(error: unknown): readonly string[] {
  if (!(error instanceof ResponseError)) return []
  return error.errors.map(inner => (inner as { apiId?: string }).apiId ?? 'UNKNOWN_SERVER_ERROR')
}

export const hasCode = (error: unknown, ...codes: readonly string[]) => codesOf(error).some(code => codes.includes(code))

/** The answer within an error: other parts of it may be fine. Rethrows an error without one. */
export function answerIn<T>(error: unknown): T {
  const answer = error instanceof ResponseError ? (error['response'] as T | undefined) : undefined
  if (answer === undefined) throw error
  return answer
}

/** Whether the same request may succeed later: no answer at all, or an error that passes. */
export function isPassing(error: unknown): boolean {
  if (error instanceof BusError) return false
  const codes = codesOf(error)
  if (codes.length === 0) return !isRefusal(error)
  return codes.every(code => isPassingCode(code))
}

/** Passes in the client as well, although Kafka's own clients start a new request for them. */
const PASSING: ReadonlySet<string> = new Set([
  'CONCURRENT_TRANSACTIONS',
  'UNSTABLE_OFFSET_COMMIT',
  'UNKNOWN_TOPIC_ID',
  'INCONSISTENT_TOPIC_ID',
])

export function isPassingCode(code: string): boolean {
  if (PASSING.has(code)) return true
  return (protocolErrors as Readonly<Record<string, { readonly canRetry: boolean } | undefined>>)[code]?.canRetry === true
}

const REFUSALS: ReadonlySet<unknown> = new Set(['PLT_KFK_AUTHENTICATION', 'PLT_KFK_UNSUPPORTED_API', 'PLT_KFK_USER'])

/** Wrong credentials, no TLS where it is needed: asking again changes nothing for now. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && REFUSALS.has(error.code)) return true
  return isRefusal(error.cause) || (error instanceof AggregateError && error.errors.some(isRefusal))
}

/** The failure of the bus that a failed request means to its caller. */
export function toBusError(error: unknown, doing: string): BusError {
  if (error instanceof BusError) return error
  return kafkaError(codesOf(error)[0], `${doing}${codesOf(error).length > 0 ? '' : `: ${messageOf(error)}`}`, error)
}

/** With the causes, which name the address and the reason. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : ''
  const cause = error.cause === undefined ? '' : `: ${messageOf(error.cause)}`
  return `${error.message}${inner === '' ? '' : ` (${inner})`}${cause}`
}
