/** Sees every `LogPipeline` as it changes, beside the operator. */
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../dataplane/adapters/clock/system-clock.ts'
import { ObjectStore } from '../../../dataplane/kube/informers/object-store.ts'
import { Reflector } from '../../../dataplane/kube/informers/reflector.ts'
import type { KubeClient } from '../../../dataplane/kube/kube-client.ts'
import { SILENT } from '../../../dataplane/telemetry/log.ts'
import type { LogPipeline } from '../../../operator/api/log-pipeline.ts'
import { LOG_PIPELINES } from '../../../operator/controllers/kinds.ts'

export interface PipelineWatch {
  list(): readonly LogPipeline[]
  /** By name, when it was so for the first time from now on (ms since the epoch); resolves once it was so for `count`. */
  untilEach(what: string, count: number, isSo: (pipeline: LogPipeline) => boolean, limitMs: number): Promise<ReadonlyMap<string, number>>
  stop(): Promise<void>
}

const TELL_MS = 15_000

export async function watchPipelines(client: KubeClient): Promise<PipelineWatch> {
  const store = new ObjectStore()
  const list = () => store.list() as readonly LogPipeline[]
  const reflector = new Reflector({ resource: LOG_PIPELINES }, store, { client, clock: systemClock, log: SILENT, random: Math.random })
  const looks = new Set<(pipeline: LogPipeline) => void>()
  store.onChange(({ after }) => {
    if (after !== undefined) for (const look of looks) look(after as LogPipeline)
  })
  reflector.start()
  await reflector.synced
  return {
    list,
    async untilEach(what, count, isSo, limitMs) {
      const sinceMs = new Map<string, number>()
      const all = Promise.withResolvers<void>()
      const look = (pipeline: LogPipeline) => {
        const { name } = pipeline.metadata
        if (!sinceMs.has(name) && isSo(pipeline)) sinceMs.set(name, Date.now())
        if (sinceMs.size >= count) all.resolve()
      }
      looks.add(look)
      for (const pipeline of list()) look(pipeline)
      const timer = setInterval(() => console.error(`  ${what}: ${sinceMs.size} of ${count}`), TELL_MS)
      const limit = new AbortController()
      const late = sleep(limitMs, 'late', { signal: limit.signal }).catch(() => 'in time')
      const end = await Promise.race([all.promise, late])
      limit.abort()
      clearInterval(timer)
      looks.delete(look)
      if (end === 'late')
        throw new Error(`${what}: ${sinceMs.size} of ${count} within ${limitMs / 1000} s; ${describeOne(list(), sinceMs)}`)
      return sinceMs
    },
    stop: () => reflector.stop(),
  }
}

export function isReady({ metadata, status }: LogPipeline): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation
}

function describeOne(pipelines: readonly LogPipeline[], done: ReadonlyMap<string, number>): string {
  const late = pipelines.find(({ metadata }) => !done.has(metadata.name))
  const ready = late?.status?.conditions?.find(({ type }) => type === 'Ready')
  return `${late?.metadata.name}: ${ready === undefined ? 'no condition Ready' : `Ready is ${ready.status}, ${ready.reason}: ${ready.message}`}`
}
