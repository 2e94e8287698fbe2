/** The product's own stream jobs, found by the groups that they are members of. */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import { STREAM_PROCESSES, type StreamProcessName, streamStartMs } from '../../contract/stream-jobs.ts'
import { isRecent } from '../../limits/is-recent.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TopicKey } from './bus-source.ts'
import type { StreamJob } from './stream-source.ts'

export interface StreamDiscoveryDeps {
  readonly bus: () => Promise<Pick<Bus, 'groupMembers'>>
  readonly topics: Readonly<Record<TopicKey, string>>
  /** Those to look for; the others are asked at the address that a setting names. */
  readonly names: readonly StreamProcessName[]
  readonly clock: Clock
}

/** How long a job that is gone counts as failed. After that it counts as removed on purpose. */
const MISSED_MS = 600_000
/** A bus that cannot be reached takes much longer to say so. */
const ANSWER_WITHIN_MS = 3_000

/** Each call looks once. Rejects while the bus does not answer about jobs that were there lately; without such jobs it finds none. */
export function createStreamDiscovery({ bus, topics, names, clock }: StreamDiscoveryDeps): () => Promise<readonly StreamJob[]> {
  const groups = {
    etl: consumerGroup('etl', [topics.raw]),
    score: consumerGroup('anomaly', [topics.enriched]),
  } satisfies Readonly<Record<StreamProcessName, string>>
  const seenMs = new Map<StreamProcessName, number>()

  const wasSeen = (name: StreamProcessName) => isRecent(seenMs.get(name) ?? Number.NEGATIVE_INFINITY, MISSED_MS, clock.nowMs())
  const look = async (name: StreamProcessName): Promise<Omit<StreamJob, 'name'> | undefined> => {
    const members = await (await bus()).groupMembers(groups[name])
    const startTimes = members.flatMap(({ clientId }) => streamStartMs(name, clientId) ?? [])
    if (startTimes.length === 0) return wasSeen(name) ? { state: 'FAILED', taskManagers: 0, uptimeMs: 0 } : undefined
    seenMs.set(name, clock.nowMs())
    return { state: 'RUNNING', taskManagers: startTimes.length, uptimeMs: Math.max(0, clock.nowMs() - Math.min(...startTimes)) }
  }

  return async () => {
    const answered = new AbortController()
    const late = clock.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => {
      throw new Error(`the bus does not tell who is in its groups within ${ANSWER_WITHIN_MS} ms`)
    })
    try {
      const looks = names.map(async name => ({ jobs: STREAM_PROCESSES[name].jobs, seen: await look(name) }))
      const found = await Promise.race([Promise.all(looks), late])
      return found.flatMap(({ jobs, seen }) => (seen === undefined ? [] : jobs.map(name => ({ name, ...seen }))))
    } catch (error) {
      if (names.some(wasSeen)) throw error
      return []
    } finally {
      answered.abort()
      await late.catch(() => {})
    }
  }
}
