/** The ticketing agent's work on incidents, put together: intake, dispatch, escalation, explanation (Spec: Components; Decisions 6). */
import { ALL_DISPATCHES, ALL_INCIDENTS, DISPATCHES_TEMPLATE } from '../../contract/indices.ts'
import { DISPATCH_PROPERTIES, DISPATCHES_TEMPLATE_BODY, TICKETING_PROPERTIES } from '../../domain/documents/index-templates.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IncidentPlatforms } from '../../ports/incident-platform.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'
import type { Log } from '../../telemetry/log.ts'
import { type AutoEscalationDeps, escalateOverdue } from './auto-escalation.ts'
import { createDispatcher, type Dispatcher, type DispatcherDeps } from './dispatch/dispatcher.ts'
import { createLeaseEnding } from './dispatch/end-leases.ts'
import { createExplaining, type ExplainIncident, type IsModelAway } from './explain-incidents.ts'
import { createFindCause, type FindCause } from './intake/find-cause.ts'
import { createIntake } from './intake/intake.ts'
import { createRecall } from './intake/recall-owed.ts'
import { createAgentPresence, LOOK_MS } from './lanes/lane-owners.ts'
import { startPollLoop } from './poll-loop.ts'
import type { SilenceStore } from './silence-store.ts'

export interface TicketAgentDeps extends Pick<DispatcherDeps, 'onAttempt' | 'onFailed' | 'limits' | 'publicUrl'> {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly platforms: Omit<IncidentPlatforms, 'close'>
  readonly config: TicketingConfigSource
  readonly silences: SilenceStore
  readonly escalate: AutoEscalationDeps['escalate']
  /** Default: no model is asked. */
  readonly explain?: ExplainIncident
  readonly isModelAway?: IsModelAway
  /** An incident was routed to nobody, for the first time. */
  readonly onUntold?: () => void
  /** Names this agent among those on one store: the same after a restart, and no other's. Default: no other is on this store. */
  readonly agentName?: string | undefined
  /** Whether no other process can have that name while this one lives. Then what the one before it had under way waits for no lease. */
  readonly isSole?: boolean
  /** Default: the search store is analysed. */
  readonly findCause?: FindCause
}

export interface TicketAgent extends Pick<Dispatcher, 'oldestPendingSeconds' | 'restsUntil'> {
  /** Incidents or rows changed: there may be something to do at once. */
  nudge(): void
  /** Ends what can end soon, gives back the rest. */
  stop(): Promise<void>
}

/** How soon a new incident is seen. */
const INTAKE_IDLE_MS = 500
const DISPATCH_IDLE_MS = 1_000
const ESCALATION_IDLE_MS = 1_000
/** Time in which attempts under way may end. */
const STOP_GRACE_MS = 5_000

export function startTicketAgent(deps: TicketAgentDeps): TicketAgent {
  const { store, clock, log, config, explain, isSole = false } = deps
  const soleName = isSole ? deps.agentName : undefined
  const findCause = deps.findCause ?? createFindCause({ store, clock, log })
  const explaining = explain && createExplaining({ store, clock, log, explain, onOwed: () => intakeLoop.nudge() })
  const presence = deps.agentName === undefined ? undefined : createAgentPresence({ store, clock, log, name: deps.agentName })
  const dispatcher = createDispatcher({
    ...deps,
    soleName,
    ...(presence !== undefined && { owners: presence }),
    nudge: () => dispatchLoop.nudge(),
    ...(explaining !== undefined && { onOpened: incident => explaining.ask(incident) }),
  })
  const intake = createIntake({
    ...deps,
    findCause,
    soleName,
    onRows: () => dispatchLoop.nudge(),
    ...(explaining !== undefined && { onCause: incident => explaining.ask(incident) }),
  })
  const recall = createRecall(deps)
  let isPrepared = false
  const prepare = async () => {
    if (isPrepared) return
    await prepareIndices(store)
    isPrepared = true
  }
  let knownGeneration: number | undefined
  const presenceLoop =
    presence &&
    startPollLoop({
      clock,
      log,
      name: 'presence',
      idleMs: LOOK_MS,
      async round() {
        const before = knownGeneration
        await presence.round()
        knownGeneration = presence.generation()
        if (knownGeneration !== before) dispatchLoop.nudge()
        return LOOK_MS
      },
    })
  const endLeases = soleName === undefined ? undefined : createLeaseEnding({ store, clock, log, soleName })
  const dispatchLoop = startPollLoop({
    clock,
    log,
    name: 'dispatch',
    idleMs: DISPATCH_IDLE_MS,
    async round() {
      await endLeases?.()
      return dispatcher.round()
    },
  })
  const intakeLoop = startPollLoop({
    clock,
    log,
    name: 'intake',
    idleMs: INTAKE_IDLE_MS,
    async round() {
      await prepare()
      await recall()
      return intake.round()
    },
  })
  const escalationLoop = startPollLoop({
    clock,
    log,
    name: 'escalation',
    idleMs: ESCALATION_IDLE_MS,
    async round() {
      await escalateOverdue({ store, clock, config, silences: deps.silences, escalate: deps.escalate })
      return undefined
    },
  })
  return {
    nudge() {
      intakeLoop.nudge()
      dispatchLoop.nudge()
    },
    oldestPendingSeconds: () => dispatcher.oldestPendingSeconds(),
    restsUntil: (...args) => dispatcher.restsUntil(...args),
    async stop() {
      await Promise.all([intakeLoop.stop(), escalationLoop.stop(), dispatchLoop.stop(), presenceLoop?.stop(), explaining?.stop()])
      await Promise.all([intake.stop(STOP_GRACE_MS), dispatcher.stop(STOP_GRACE_MS)])
      // Otherwise the others wait until this one has been silent for long enough.
      await presence?.leave().catch(error => log.warn({ error }, 'the other ticketing agents were not told that this one stops'))
    },
  }
}

/** The bridge installs the templates of all indices; this one holds until it has, and indices of an earlier version get their new fields. */
async function prepareIndices(store: SearchStore): Promise<void> {
  await store.putIndexTemplate(DISPATCHES_TEMPLATE, DISPATCHES_TEMPLATE_BODY)
  if ((await store.listIndices(ALL_INCIDENTS)).length > 0) await store.putMapping(ALL_INCIDENTS, TICKETING_PROPERTIES)
  if ((await store.listIndices(ALL_DISPATCHES)).length > 0) await store.putMapping(ALL_DISPATCHES, DISPATCH_PROPERTIES)
}
