import { BusError, type BusRecord } from '../ports/bus.ts'
import type { Output } from './runners/work.ts'

/**
 * Sends records, and tells by their positions which the bus takes in no company because of their size: these are data, and no reason to try the same
 * again. Some of the others may be sent twice by that. Rejects as `send` does for any other reason.
 */
export async function sendFitting(output: Output, topic: string, records: readonly BusRecord[]): Promise<readonly number[]> {
  try {
    await output.send(topic, records)
    return []
  } catch (error) {
    if (!isTooLarge(error)) throw error
  }
  if (records.length === 1) return [0]
  const half = records.length >> 1
  const first = await sendFitting(output, topic, records.slice(0, half))
  const second = await sendFitting(output, topic, records.slice(half))
  return [...first, ...second.map(position => position + half)]
}

function isTooLarge(error: unknown): boolean {
  return error instanceof BusError && error.reason === 'record-too-large'
}
