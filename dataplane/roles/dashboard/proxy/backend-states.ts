/** Which back ends answer, asked again when somebody wants to know and the last answers are old. */
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Upstream } from '../../../upstream/upstream.ts'
import { SERVICE_NAMES, SERVICES, type ServiceName } from './services.ts'

/** `not configured`: nobody has said where it is, and it is not where it would be by default. */
export type BackendState = 'connected' | 'disconnected' | 'not configured'

/** A probe of the health endpoint waits a second by default. */
const ANSWER_WITHIN_MS = 800
const FRESH_MS = 2_000

export interface BackendStatesDeps {
  readonly backends: Readonly<Record<ServiceName, Pick<Upstream, 'answers'>>>
  /** Back ends that no setting places, and that are not at their default address. */
  readonly unconfigured: ReadonlySet<ServiceName>
  readonly clock: Clock
}

export function createBackendStates({ backends, unconfigured, clock }: BackendStatesDeps) {
  let askedMs = Number.NEGATIVE_INFINITY
  let states: Promise<Readonly<Record<ServiceName, BackendState>>>
  const ask = async () => {
    const entries = await Promise.all(
      SERVICE_NAMES.map(async name => {
        const isThere = await backends[name].answers(SERVICES[name].healthPath, ANSWER_WITHIN_MS)
        return [name, isThere ? 'connected' : unconfigured.has(name) ? 'not configured' : 'disconnected'] as const
      }),
    )
    return Object.fromEntries(entries) as Record<ServiceName, BackendState>
  }
  return {
    read(): Promise<Readonly<Record<ServiceName, BackendState>>> {
      if (monotonicMs(clock) - askedMs >= FRESH_MS) {
        askedMs = monotonicMs(clock)
        states = ask()
      }
      return states
    },
  }
}
