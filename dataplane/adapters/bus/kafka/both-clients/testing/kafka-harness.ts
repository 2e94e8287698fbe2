import { randomUUID } from 'node:crypto'
import type { Bus } from '../../../../../ports/bus.ts'
import { backendAddress } from '../../../../../testing/real/address.ts'
import type { BackendName } from '../../../../../testing/real/backends.ts'
import { systemClock } from '../../../../clock/system-clock.ts'
import type { BusHarness } from '../../../testing/bus-contract-suite.ts'
import type { KafkaConfig } from '../kafka-config.ts'

export type OpenBus = (config: KafkaConfig) => Promise<Bus>

const HOUR_MS = 3_600_000

/** Quick to notice a rebalance, so that tests need not wait. */
export const QUICK: Partial<KafkaConfig> = { heartbeatMs: 50, handoverMs: 100, sessionTimeoutMs: 6_000 }

/** A bus on a real Kafka with two topics of its own. */
export async function makeKafkaHarness(open: OpenBus, backend: BackendName): Promise<BusHarness> {
  const id = randomUUID()
  const topics = { keyed: `keyed-${id}`, single: `single-${id}` }
  const config: KafkaConfig = {
    ...QUICK,
    brokers: backendAddress(backend).split(','),
    clock: systemClock,
    topics: [
      { name: topics.keyed, partitions: 3, retentionMs: HOUR_MS },
      { name: topics.single, partitions: 1, retentionMs: HOUR_MS },
    ],
  }
  // Kafka keeps the groups of earlier tests: each has names of its own.
  const scoped = (bus: Bus): Bus => ({
    ...bus,
    subscribe: subscription => bus.subscribe({ ...subscription, groupId: `${subscription.groupId}-${id}` }),
    committedOffsets: groupId => bus.committedOffsets(`${groupId}-${id}`),
    async beginTransaction() {
      const transaction = await bus.beginTransaction()
      return { ...transaction, sendOffsets: (groupId, offsets) => transaction.sendOffsets(`${groupId}-${id}`, offsets) }
    },
  })
  const clients: Bus[] = []
  const connect = async () => {
    const bus = scoped(await open(config))
    clients.push(bus)
    return bus
  }
  const stopAll = async () => void (await Promise.all(clients.splice(0).map(bus => bus.stop())))
  return {
    bus: await connect(),
    topics,
    connect,
    async reopen() {
      await stopAll()
      return connect()
    },
    close: stopAll,
  }
}
