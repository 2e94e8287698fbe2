import { randomUUID } from 'node:crypto'
import type { Bus, ConsumedRecord, Subscription } from '../../../../../ports/bus.ts'
import { backendAddress } from '../../../../../testing/real/address.ts'
import type { BackendName } from '../../../../../testing/real/backends.ts'
import { systemClock } from '../../../../clock/system-clock.ts'
import type { KafkaConfig } from '../kafka-config.ts'
import { type OpenBus, QUICK } from './kafka-harness.ts'

const HOUR_MS = 3_600_000
const POLL = { maxRecords: 1000, maxBytes: 8 << 20, waitMs: 100 }

/** A topic of its own on a real Kafka, and clients of it that are stopped in the end. */
export interface TestTopic {
  readonly name: string
  readonly group: string
  open(config?: Partial<KafkaConfig>): Promise<Bus>
  close(): Promise<void>
}

export function createTestTopic(openBus: OpenBus, backend: BackendName, partitions: number): TestTopic {
  const name = `test-${randomUUID()}`
  const clients: Bus[] = []
  return {
    name,
    group: `group-${name}`,
    async open(config = {}) {
      const brokers = backendAddress(backend).split(',')
      const bus = await openBus({ ...QUICK, brokers, clock: systemClock, topics: [{ name, partitions, retentionMs: HOUR_MS }], ...config })
      clients.push(bus)
      return bus
    },
    close: async () => void (await Promise.all(clients.splice(0).map(bus => bus.stop()))),
  }
}

/** Polls until there are `count`, and a little longer to see whether there are more. */
export async function readAll(subscription: Subscription, count: number, timeoutMs = 20_000): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = []
  for (const deadlineMs = Date.now() + timeoutMs; records.length < count && Date.now() < deadlineMs; )
    records.push(...(await subscription.poll(POLL)))
  return [...records, ...(await subscription.poll({ ...POLL, waitMs: 300 }))]
}
