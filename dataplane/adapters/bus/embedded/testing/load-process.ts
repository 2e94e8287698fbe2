import { systemClock } from '../../../clock/system-clock.ts'
import { openEmbeddedBus } from '../embedded-bus.ts'

/** A process to be killed: sends numbered records without end, and prints the numbers of each send that was acknowledged. */
const [dir, start] = process.argv.slice(2) as [string, string]
const TOPIC = { name: 'logs', partitions: 2, retentionMs: 3_600_000 }
const bus = await openEmbeddedBus({ dir, topics: [TOPIC], clock: systemClock, minFreeBytes: 0, segmentBytes: 64 * 1024 })

async function sendWithoutEnd(sender: number): Promise<void> {
  for (let i = Number(start); ; i += 10) {
    const numbers = Array.from({ length: 10 }, (_, k) => i + k)
    const records = numbers.map(n => ({ key: `sender-${sender}`, value: Buffer.from(`${sender}:${n}:${'x'.repeat(n % 300)}`) }))
    await bus.send(TOPIC.name, records)
    process.stdout.write(numbers.map(n => `${sender}:${n}\n`).join(''))
  }
}
await Promise.all([0, 1, 2].map(sendWithoutEnd))
