/** The admission of a request: its key, and the rate that the key may keep. */
import type { KeyCheck } from '../../api-keys/key-check.ts'
import type { KeyOwner } from '../../api-keys/key-store.ts'
import { API_KEY_HEADER } from '../../contract/headers.ts'
import { GRPC } from '../../otlp-intake/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { RateLimit } from './rate-limit.ts'

const MISSING_KEY = `missing or invalid API key: send one in the header ${API_KEY_HEADER}`

export interface Refused {
  readonly status: number
  readonly grpcCode: number
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

export type Admission = { readonly owner: KeyOwner } | { readonly refused: Refused }

export interface AdmissionDeps {
  readonly check: Pick<KeyCheck, 'check'>
  readonly limit: RateLimit
  /** The limit in words. */
  readonly requestsPerSecond: number | undefined
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

export type Admit = (key: string | readonly string[] | undefined) => Admission | Promise<Admission>

/** The admission is there at once where the key is known. */
export function createAdmit({ check, limit, requestsPerSecond, clock, log }: AdmissionDeps): Admit {
  const admit = (owner: KeyOwner | undefined): Admission => {
    if (owner === undefined) return { refused: { status: 401, grpcCode: GRPC.unauthenticated, message: MISSING_KEY } }
    const retryAfterSeconds = limit.take(owner.id, clock.nowMs())
    if (retryAfterSeconds === 0) return { owner }
    const message = `this API key may ask ${requestsPerSecond} times a second; try again later`
    return { refused: { status: 429, grpcCode: GRPC.resourceExhausted, message, retryAfterSeconds } }
  }
  const unknown = (error: unknown): Admission => {
    if (!(error instanceof SearchStoreUnavailable)) log.error({ error }, 'the key of a request cannot be looked up')
    const message = 'API keys cannot be looked up now; try again later'
    return { refused: { status: 503, grpcCode: GRPC.unavailable, message, retryAfterSeconds: 2 } }
  }
  return key => {
    const owner = check.check(key)
    return owner instanceof Promise ? owner.then(admit, unknown) : admit(owner)
  }
}
