import { BusError } from '../../../ports/bus.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import { kafkaError } from '../kafka/both-clients/kafka-errors.ts'

/** The name of Kafka's error code in what `kafkajs` rejects with; undefined when there was no answer. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = (at as { cause?: unknown }).cause)
    if ('type' in at && typeof at.type === 'string') return at.type
  return undefined
}

/** The failure of the bus that a failure of the library means to the caller. */
export function toBusError(error: unknown, doing: string): BusError {
  if (error instanceof BusError) return error
  const code = codeOf(error)
  return kafkaError(code, code === undefined ? `${doing}: ${(error as Error).message}` : doing, error)
}

/** A broker that is busy, as one that has just started, answers a later attempt. */
function isTimeOut(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = (at as { cause?: unknown }).cause)
    if (at.name === 'KafkaJSRequestTimeoutError') return true
  return false
}

/** Passes within moves of leaders and coordinators, and while brokers hear of a new topic; the library gives up at once on some of them. */
const PASSING: ReadonlySet<string | undefined> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_LOAD_IN_PROGRESS',
])
const BACKOFF_MS = 100

/** Repeats `work` while its errors pass, for `ms`. */
export async function retryPassing<T>(clock: Clock, ms: number, work: () => Promise<T>): Promise<T> {
  const deadlineMs = monotonicMs(clock) + ms
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const passes = PASSING.has(codeOf(error)) || isTimeOut(error)
      if (!passes || monotonicMs(clock) + BACKOFF_MS > deadlineMs) throw error
      await clock.sleep(BACKOFF_MS)
    }
  }
}
