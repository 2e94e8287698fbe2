import { parentPort, workerData } from 'node:worker_threads'
import { attachEmbeddedBus, type BusShare } from '../embedded-bus.ts'

/** Runs in a worker thread: moves `count` records from one topic to another, then stops. */
const { bus: handle, from, to, count } = workerData as { bus: BusShare; from: string; to: string; count: number }
const bus = attachEmbeddedBus(handle)
const subscription = await bus.subscribe({ groupId: `relay to ${to}`, topics: [from] })
for (let moved = 0; moved < count; ) {
  const records = await subscription.poll({ maxRecords: 500, maxBytes: 1 << 20, waitMs: 1000 })
  if (records.length === 0) continue
  await bus.send(
    to,
    records.map(({ key, value, headers }) => ({ key, value, headers })),
  )
  const next = new Map(records.map(({ topic, partition, offset }) => [partition, { topic, partition, offset: offset + 1 }]))
  await subscription.commit([...next.values()])
  moved += records.length
}
await bus.stop()
parentPort!.postMessage('done')
