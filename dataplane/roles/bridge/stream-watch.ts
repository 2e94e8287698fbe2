/** Watches which stream jobs do the work of a bridge thread. */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import { STREAM_PROCESS_NAMES, STREAM_PROCESSES, type StreamProcessName, streamStartMs } from '../../contract/stream-jobs.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'

/** `running`: a stream job does the work of a thread, which stands by. `unknown`: the bus does not tell. */
export type StreamJobState = 'running' | 'none' | 'unknown'

export interface StreamWatchDeps {
  readonly bus: Pick<Bus, 'groupMembers'>
  readonly settings: Pick<SettingsOf<'bridge'>, 'RAW_TOPIC' | 'ENRICHED_TOPIC'>
  readonly clock: Clock
  readonly log: Log
}

/** Which stream jobs are in the bridge's groups, as the bus tells. */
export interface StreamWatch {
  states(): Readonly<Record<StreamProcessName, StreamJobState>>
  /** Waits for no answer of the bus, which may be away. */
  stop(): void
}

const LOOK_MS = 2_000

/** Looks every two seconds, and says in the log when the work of a thread goes over to a stream job, or comes back. */
export function startStreamWatch({ bus, settings, clock, log }: StreamWatchDeps): StreamWatch {
  const stopping = new AbortController()
  const groups = {
    etl: consumerGroup('etl', [settings.RAW_TOPIC]),
    score: consumerGroup('anomaly', [settings.ENRICHED_TOPIC]),
  } satisfies Readonly<Record<StreamProcessName, string>>
  const states: Record<StreamProcessName, StreamJobState> = { etl: 'unknown', score: 'unknown' }
  /** As last said in the log. */
  const isWorking: Record<StreamProcessName, boolean> = { etl: false, score: false }

  const look = async (job: StreamProcessName) => {
    try {
      const members = await bus.groupMembers(groups[job])
      if (stopping.signal.aborted) return
      const processes = members.filter(({ clientId }) => streamStartMs(job, clientId) !== undefined).length
      states[job] = processes > 0 ? 'running' : 'none'
      if (isWorking[job] === processes > 0) return
      isWorking[job] = processes > 0
      const { thread } = STREAM_PROCESSES[job]
      if (isWorking[job]) log.info({ job, thread, processes }, 'a stream job does the work of the thread, which stands by')
      else log.info({ job, thread }, 'no stream job is there any more: the thread does the work')
    } catch {
      // Whatever keeps the bus from telling: it says so itself.
      states[job] = 'unknown'
    }
  }
  const follow = async () => {
    while (!stopping.signal.aborted) {
      await Promise.all(STREAM_PROCESS_NAMES.map(look))
      await clock.sleep(LOOK_MS, stopping.signal)
    }
  }
  void follow()
  return {
    states: () => ({ ...states }),
    stop: () => stopping.abort(),
  }
}
