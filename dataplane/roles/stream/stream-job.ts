/** The common part of both stream jobs: one step of the pipeline, exactly once, with health and metrics. */
import { BRIDGE_COUNTERS, type BridgeCounter } from '../../contract/counters.ts'
import { type StreamProcessName, streamClientId } from '../../contract/stream-jobs.ts'
import { createControlApp } from '../../http/control-app.ts'
import { startHttpServer } from '../../http/server.ts'
import { createDeadLetterCounter } from '../../pipeline/dead-letters/count-dead-letters.ts'
import type { CountDeadLetters, DeadLetterStage } from '../../pipeline/dead-letters/dead-letter.ts'
import { runExactlyOnce } from '../../pipeline/runners/exactly-once.ts'
import { type RunState, supervise } from '../../pipeline/runners/supervise.ts'
import { type Work, withReady } from '../../pipeline/runners/work.ts'
import { givingUpUnreadable } from '../../pipeline/unreadable-records.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Keep, type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { type KafkaBusSettings, openRoleKafka } from '../backends.ts'
import { createConnectionState } from '../connection-state.ts'

export interface StreamJobDeps<C extends BridgeCounter> {
  readonly name: StreamProcessName
  readonly settings: KafkaBusSettings & { readonly HOST: string; readonly PORT: number; readonly DEAD_LETTER_TOPIC: string }
  /** Its counters, under the names of the bridge's thread, so that sums over all processes count each record once. */
  readonly counters: readonly C[]
  /** The work of one life; called again after a failure. */
  readonly createWork: (count: (counter: C, amount: number) => void, countDeadLetters: CountDeadLetters, signal: AbortSignal) => Work
  readonly clock: Clock
  readonly log: Log
}

/** A job whose process dies in a transaction holds up readers for this long, and up to 10 s more until Kafka notices. */
const TRANSACTION_TIMEOUT_MS = 15_000

/** A transaction is kept in memory until it is committed, and two are under way: more than what two of the largest messages become. */
const MAX_QUEUED_BYTES = 256 * 1024 * 1024

/** The step that a dead letter names: that of the bridge's thread. */
const STAGE: Readonly<Record<StreamProcessName, DeadLetterStage>> = { etl: 'etl', score: 'anomaly' }

/** Time to commit the transaction that is under way at a stop. */
const STOP_WITHIN_MS = 15_000

/** Runs one step of the pipeline exactly once, with health and metrics (Decisions 2). Waits for a Kafka that does not answer yet. */
export function startStreamJob<C extends BridgeCounter>(deps: StreamJobDeps<C>): Promise<Running & { readonly port: number }> {
  return startTogether(keep => start(deps, keep))
}

async function start<C extends BridgeCounter>(deps: StreamJobDeps<C>, keep: Keep): Promise<{ readonly port: number }> {
  const { name, settings, counters, createWork, clock, log } = deps
  // The bridge and the agent know by the name that it is a stream job, and since when.
  const kafka = {
    clientId: streamClientId(name, clock.nowMs()),
    transactionTimeoutMs: TRANSACTION_TIMEOUT_MS,
    maxQueuedBytes: MAX_QUEUED_BYTES,
  }
  const bus = keep(await openRoleKafka(settings, { clock, log }, kafka))
  const metrics = createMetrics()
  metrics.processMetrics()
  const table = Object.fromEntries(counters.map(counter => [counter, BRIDGE_COUNTERS[counter]])) as Pick<typeof BRIDGE_COUNTERS, C>
  const count = metrics.counters<C>(table)
  const countDeadLetters = createDeadLetterCounter(metrics)
  const stopping = new AbortController()
  let state: RunState = 'starting'
  const busState = createConnectionState(() => bus.describe(), clock)
  const health = async () => {
    const reached = await busState()
    return { status: state === 'running' && reached === 'connected' ? 'ok' : 'error', job: name, state, bus: reached }
  }
  const { HOST: host, PORT } = settings
  const { port } = keep(
    await startHttpServer(createControlApp({ routes: [], log, metrics, health }), { host, port: PORT, setting: 'PORT' }),
  )
  const done = supervise({
    clock,
    signal: stopping.signal,
    onState(next, error) {
      state = next
      if (error === undefined) log.info({ job: name, state }, 'job state')
      else log.warn({ job: name, state, error }, 'job failed and is started again')
    },
    async run(ready) {
      await bus.opened(stopping.signal)
      if (stopping.signal.aborted) return
      const letters = { topic: settings.DEAD_LETTER_TOPIC, stage: STAGE[name], clock, log, countDeadLetters }
      const work = givingUpUnreadable(createWork(count, countDeadLetters, stopping.signal), letters)
      await runExactlyOnce({ bus, clock, work: withReady(work, ready), signal: stopping.signal })
    },
  })
  keep(stopping, async () => {
    stopping.abort()
    // Without its bus nothing can go on: work that waits for Kafka by then fails.
    const timer = new AbortController()
    await Promise.race([done, clock.sleep(STOP_WITHIN_MS, timer.signal)])
    timer.abort()
    await bus.stop()
    await done
  })
  log.info({ job: name, host, port }, 'stream job listens')
  return { port }
}
