/** A process that does the etl step on a real Kafka, when told so and under either runner, and says how far it came when. */
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { loadSettings } from '../../../dataplane/config/environment.ts'
import { DEFAULT_TENANT } from '../../../dataplane/contract/tenant-id.ts'
import { runAtLeastOnce } from '../../../dataplane/pipeline/runners/at-least-once.ts'
import { runExactlyOnce } from '../../../dataplane/pipeline/runners/exactly-once.ts'
import type { RunnerDeps } from '../../../dataplane/pipeline/runners/work.ts'
import { createEtlWork } from '../../../dataplane/pipeline/work/etl-work.ts'
import { SILENT } from '../../../dataplane/telemetry/log.ts'
import { openBenchBus } from './bench-topics.ts'
import type { EtlSample, EtlTask, FromEtl, RunnerName, ToEtl } from './etl-task.ts'

const RUN: Readonly<Record<RunnerName, (deps: RunnerDeps) => Promise<void>>> = {
  'at-least-once': runAtLeastOnce,
  'exactly-once': runExactlyOnce,
}
const SAMPLE_MS = 50
/** Nothing new for this long: all is done. */
const IDLE_MS = 1_500
const FIRST_RECORD_WITHIN_MS = 20_000

let go = Promise.withResolvers<void>()
const tell = (message: FromEtl) => void process.send!(message)
process.on('message', async (message: ToEtl) => {
  if (message.kind === 'go') go.resolve()
  else tell({ kind: 'done', samples: await run(message.task) })
})

async function run({ topics, runner, group }: EtlTask): Promise<readonly EtlSample[]> {
  const bus = await openBenchBus(topics)
  const stop = new AbortController()
  const samples: EtlSample[] = []
  let records = 0
  const work = createEtlWork({
    settings: { ...loadSettings('stream etl', topics.settings), DEFAULT_TENANT },
    features: { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined },
    standsBy: false,
    count(counter, amount) {
      if (counter === 'etlProduced') records += amount
    },
    clock: systemClock,
    log: SILENT,
  })
  go = Promise.withResolvers<void>()
  let startedMs = Number.POSITIVE_INFINITY
  const sampling = setInterval(() => {
    const atMs = Date.now()
    const last = samples.at(-1)
    if (records > (last?.records ?? 0)) samples.push({ atMs, records, cpuSeconds: cpuSeconds() })
    else if (last === undefined ? atMs - startedMs > FIRST_RECORD_WITHIN_MS : atMs - last.atMs > IDLE_MS) stop.abort()
  }, SAMPLE_MS)
  const own = {
    ...work,
    subscription: { ...work.subscription, groupId: group },
    /** Once it is a member. */
    async prepare() {
      tell({ kind: 'joined' })
      await go.promise
      startedMs = Date.now()
    },
  }
  await RUN[runner]({ bus, clock: systemClock, work: own, signal: stop.signal })
  clearInterval(sampling)
  await bus.stop()
  return samples
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
