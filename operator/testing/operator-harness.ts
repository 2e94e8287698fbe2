/** Runs whole operators against a fake API server, in time that passes only when somebody waits for it. */
import { inspect } from 'node:util'
import { loadSettings } from '../../dataplane/config/environment.ts'
import { eventually } from '../../dataplane/kube/testing/eventually.ts'
import { type FakeApiServer, startFakeApiServer } from '../../dataplane/kube/testing/fake-api-server.ts'
import type { FakeRequest } from '../../dataplane/kube/testing/fake-faults.ts'
import { type Log, SILENT } from '../../dataplane/telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../dataplane/testing/fake-clock.ts'
import { CACHED_KINDS } from '../controllers/kinds.ts'
import { type RunningOperator, start } from '../main.ts'
import { EVENTS } from '../runtime/event-recorder.ts'
import { LEASES } from '../runtime/lease.ts'

export interface OperatorHarness {
  readonly server: FakeApiServer
  readonly clock: FakeClock
  run(settings?: Readonly<Record<string, string>>): Promise<RunningOperator>
  stop(operator: RunningOperator): Promise<void>
  /** Lets time pass until it is so. */
  passUntil(what: string, holds: () => boolean): Promise<void>
  /** Until nothing has been written for so long. */
  settle(quietMs?: number): Promise<void>
  /** Writes other than of leases and events. */
  writes(): readonly FakeRequest[]
  /** Messages of operators at level error. */
  errors(): readonly string[]
  /** Stops all that runs. */
  close(): Promise<void>
}

const STEP_MS = 100

export async function startOperatorHarness(): Promise<OperatorHarness> {
  const clock = createFakeClock()
  const server = await startFakeApiServer([...CACHED_KINDS.map(({ resource }) => resource), LEASES, EVENTS], clock.nowMs)
  const running = new Set<RunningOperator>()
  const errors: string[] = []
  const log: Log = {
    ...SILENT,
    error: (fields, message) => void errors.push(`${message} ${inspect(fields)}`),
    child: () => log,
  }

  const passUntil = (what: string, holds: () => boolean) =>
    eventually(what, () => {
      const is = holds()
      if (!is && clock.sleepers > 0) clock.advance(STEP_MS)
      return is
    })
  const writes = () => server.writes().filter(({ resource }) => !/^(leases|events)\./.test(resource))
  const stop = async (operator: RunningOperator) => {
    running.delete(operator)
    let isStopped = false
    const stopped = operator.stop().then(() => {
      isStopped = true
    })
    await passUntil('the operator stops', () => isStopped)
    await stopped
  }

  return {
    server,
    clock,
    async run(settings = {}) {
      const environment = { HOST: '127.0.0.1', PORT: '0', OPERATOR_IMAGE: 'logpipeline:1', POD_NAME: 'operator-1', ...settings }
      const settingsOfRun = loadSettings('operator', environment)
      const context = { settings: settingsOfRun, access: server.access, log, clock, steadyClock: clock, random: () => 0 }
      const operator = await start(context)
      running.add(operator)
      return operator
    },
    stop,
    passUntil,
    async settle(quietMs = 5000) {
      let quietSinceMs = clock.nowMs()
      let seen = -1
      await passUntil('nothing more is written', () => {
        if (writes().length !== seen) quietSinceMs = clock.nowMs()
        seen = writes().length
        return clock.nowMs() - quietSinceMs > quietMs
      })
    },
    writes,
    errors: () => errors,
    async close() {
      for (const operator of running) await stop(operator)
      await server.stop()
    },
  }
}
