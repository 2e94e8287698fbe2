/** Intake and dispatchers over one store, driven round by round: time and turns are the test's. */
import type { RootCause } from '../../../domain/root-cause/root-cause.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../dispatch/dispatcher.ts'
import type { FindCause } from '../intake/find-cause.ts'
import { createIntake, type Intake } from '../intake/intake.ts'
import { createSilenceStore, type SilenceStore } from '../silence-store.ts'
import { createFakeConfig, type FakeConfig } from './fake-config.ts'
import { createFakePlatforms, type FakePlatforms } from './fake-platforms.ts'

export interface TicketWorld {
  readonly clock: FakeClock
  readonly config: FakeConfig
  readonly platforms: FakePlatforms
  readonly silences: SilenceStore
  readonly causes: { find: FindCause }
  readonly intake: Intake
  readonly dispatcher: Dispatcher
  /** Another process on the same store. */
  replica(overrides?: Partial<DispatcherDeps>): { readonly intake: Intake; readonly dispatcher: Dispatcher }
  /** Rounds of the intake and of dispatchers until nothing is begun any more. */
  settle(...dispatchers: readonly Dispatcher[]): Promise<void>
}

export const CAUSE: RootCause = {
  mode: 'rules',
  fallback: false,
  summary: 'Most likely payment: it answers no longer.',
  candidates: [{ service: 'payment', score: 8, reasons: [{ kind: 'silence', text: 'payment is silent.', logIds: [], traceIds: [] }] }],
}

/** Beyond the limits of platforms: what is tested is the order, not the pace. */
const NO_LIMITS = { perSecond: 1_000_000, burst: 1_000_000, atOnce: 16 }
const ROUNDS = 12

export function createTicketWorld(
  store: SearchStore,
  overrides: Partial<DispatcherDeps> = {},
  startMs = Date.UTC(2026, 0, 1, 1),
): TicketWorld {
  const clock = createFakeClock(startMs)
  const config = createFakeConfig()
  const platforms = createFakePlatforms()
  const silences = createSilenceStore({ store, clock })
  const { log = SILENT } = overrides
  const causes: { find: FindCause } = { find: async () => ({ rootCause: CAUSE, windowMs: 180_000 }) }
  const replica: TicketWorld['replica'] = (own = {}) => ({
    intake: createIntake({
      ...{ store, clock, log, config, silences },
      findCause: incident => causes.find(incident),
      soleName: own.soleName,
      onRows: () => undefined,
    }),
    dispatcher: createDispatcher({
      store,
      clock,
      log,
      config,
      silences,
      platforms: platforms.platforms,
      limits: () => NO_LIMITS,
      ...overrides,
      ...own,
    }),
  })
  const first = replica()
  return {
    clock,
    config,
    platforms,
    silences,
    causes,
    ...first,
    replica,
    async settle(...dispatchers) {
      const all = dispatchers.length === 0 ? [first.dispatcher] : dispatchers
      for (let i = 0; i < ROUNDS; i++) {
        await first.intake.round()
        await first.intake.idle()
        await Promise.all(all.map(each => each.round()))
        await Promise.all(all.map(each => each.idle()))
      }
    },
  }
}
