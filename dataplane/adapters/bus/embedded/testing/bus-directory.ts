import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bus, BusRecord, ConsumedRecord, Subscription } from '../../../../ports/bus.ts'
import { systemClock } from '../../../clock/system-clock.ts'
import { type EmbeddedBus, type EmbeddedBusOptions, openEmbeddedBus } from '../embedded-bus.ts'

export const HOUR_MS = 3_600_000
export const TOPIC = { name: 'logs', partitions: 2, retentionMs: 48 * HOUR_MS }
export const OUTPUT = { name: 'output', partitions: 3, retentionMs: 48 * HOUR_MS }

/** A directory for one test, and the buses opened in it. */
export interface BusDirectory {
  readonly path: string
  open(options?: Partial<EmbeddedBusOptions>): Promise<EmbeddedBus>
  /** The same files in a place of their own, as a crash at this moment would leave them. */
  copy(): BusDirectory
  segments(topic?: string): readonly string[]
  remove(): Promise<void>
}

export function createBusDirectory(): BusDirectory {
  const path = mkdtempSync(join(tmpdir(), 'bus-'))
  const opened: EmbeddedBus[] = []
  const copies: BusDirectory[] = []
  return {
    path,
    async open(options = {}) {
      const bus = await openEmbeddedBus({ dir: path, topics: [TOPIC, OUTPUT], clock: systemClock, minFreeBytes: 0, ...options })
      opened.push(bus)
      return bus
    },
    copy() {
      const copy = createBusDirectory()
      cpSync(path, copy.path, { recursive: true, filter: source => !source.endsWith('/lock') })
      copies.push(copy)
      return copy
    },
    segments: (topic = TOPIC.name) =>
      readdirSync(join(path, topic))
        .sort()
        .map(name => join(path, topic, name)),
    async remove() {
      for (const bus of opened) await bus.stop()
      for (const copy of copies) await copy.remove()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

export const textRecord = (key: string, text: string): BusRecord => ({ key, value: Buffer.from(text) })
export const textOf = ({ value }: ConsumedRecord) => Buffer.from(value).toString()

/** Reads all there is, without waiting. */
export async function drain(subscription: Subscription): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = []
  for (;;) {
    const polled = await subscription.poll({ maxRecords: 5000, maxBytes: 64 << 20, waitMs: 0 })
    if (polled.length === 0) return records
    records.push(...polled)
  }
}

/** Reads a whole topic with a group that starts at the beginning. */
export async function readAll(bus: Bus, topic = TOPIC.name): Promise<ConsumedRecord[]> {
  const subscription = await bus.subscribe({ groupId: `reader of ${topic}`, topics: [topic] })
  const records = await drain(subscription)
  await subscription.close()
  return records
}
