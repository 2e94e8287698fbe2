/** Why a request was not accepted, and how that is said on HTTP and gRPC (Decisions 3). */
import type { Log } from '../telemetry/log.ts'

interface RefusalKind {
  readonly httpStatus: number
  /** `google.rpc.Code`. */
  readonly grpcCode: number
  /** Says that the same request may succeed later, and after how long. */
  readonly retryAfterSeconds?: number
}

export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const

export const REFUSALS = {
  malformed: { httpStatus: 400, grpcCode: GRPC.invalidArgument },
  /** A page of a browser that may not send. */
  foreignPage: { httpStatus: 403, grpcCode: GRPC.permissionDenied },
  notFound: { httpStatus: 404, grpcCode: GRPC.notFound },
  methodNotAllowed: { httpStatus: 405, grpcCode: GRPC.unimplemented },
  tooLarge: { httpStatus: 413, grpcCode: GRPC.resourceExhausted },
  unsupportedType: { httpStatus: 415, grpcCode: GRPC.invalidArgument },
  unsupportedEncoding: { httpStatus: 415, grpcCode: GRPC.unimplemented },
  overloaded: { httpStatus: 429, grpcCode: GRPC.resourceExhausted, retryAfterSeconds: 1 },
  unavailable: { httpStatus: 503, grpcCode: GRPC.unavailable, retryAfterSeconds: 2 },
} as const satisfies Readonly<Record<string, RefusalKind>>

export type RefusalReason = keyof typeof REFUSALS

/** Ends a request; its message is for the client. */
export class Refusal extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'Refusal'
    this.reason = reason
  }

  get kind(): RefusalKind {
    return REFUSALS[this.reason]
  }
}

/** `seen`: its bytes where the sender has told them, or what else is known. */
export function tooLarge(what: string, limitBytes: number, seen: number | string = 'more'): Refusal {
  return new Refusal('tooLarge', `${what}: expected at most ${limitBytes} bytes (MAX_REQUEST_BYTES), saw ${seen}`)
}

/** The body of an error in JSON: the specification's shape and `google.rpc.Status` in one. */
export function errorJson(status: number, code: number, message: string): object {
  return { error: message, status, code, message }
}

/** Codes of errors that HTTP itself makes, and no refusal. */
const HTTP_CODES: Readonly<Record<number, number>> = { 408: GRPC.deadlineExceeded, 431: GRPC.resourceExhausted }

/** The same for a request that did not get as far as its handler. */
export function exportErrorBody(status: number, message: string): object {
  return errorJson(status, HTTP_CODES[status] ?? GRPC.invalidArgument, message)
}

/** The refusal that answers a request which ended with this error. Logs an error that is no `Refusal`. */
export function refusalOf(error: unknown, log: Log): Refusal {
  if (error instanceof Refusal) return error
  log.error({ error }, 'request failed')
  return new Refusal('unavailable', 'this request could not be taken; try again later')
}
