import { BusError, type BusErrorReason } from '../../../../ports/bus.ts'

/** Kafka's error codes that mean something to the caller; all others are `unavailable`. */
const REASONS: Readonly<Record<string, BusErrorReason>> = {
  MESSAGE_TOO_LARGE: 'record-too-large',
  RECORD_LIST_TOO_LARGE: 'record-too-large',
  KAFKA_STORAGE_ERROR: 'full',
  THROTTLING_QUOTA_EXCEEDED: 'overloaded',
  PRODUCER_FENCED: 'closed',
  TRANSACTION_COORDINATOR_FENCED: 'closed',
}

/** An error of Kafka by the name of its code, as the caller of the bus gets it. */
export function kafkaError(code: string | undefined, message: string, cause?: unknown): BusError {
  const reason = (code === undefined ? undefined : REASONS[code]) ?? 'unavailable'
  return new BusError(reason, code === undefined ? message : `${message}: ${code}`, cause === undefined ? undefined : { cause })
}

/** Records were shared out to a partition that the topic, made anew, does not have: a later send goes to those that there are. */
export class PartitionGone extends BusError {
  readonly topic: string
  constructor(topic: string, partition: number) {
    super('unavailable', `${topic} has no partition ${partition} any more`)
    this.topic = topic
  }
}

/** Another producer has taken over the transactional id, or its own time-out ended it. */
export const FENCED = ['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING'] as const
