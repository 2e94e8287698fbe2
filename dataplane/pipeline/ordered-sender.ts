import type { Bus, BusRecord } from '../ports/bus.ts'
import { BusError } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'

/** Sends in the order of the calls, waiting out an overloaded bus, so that records of one key keep their order. */
export interface OrderedSender {
  /** Resolves once durable; rejects when the bus fails for another reason than load, or on abort. */
  send(topic: string, records: readonly BusRecord[]): Promise<void>
}

const OVERLOAD_PAUSE_MS = 20

export function createOrderedSender(bus: Bus, clock: Clock, signal: AbortSignal): OrderedSender {
  let last: Promise<void> = Promise.resolve()
  const sendPatiently = async (topic: string, records: readonly BusRecord[]) => {
    for (;;) {
      try {
        return await bus.send(topic, records)
      } catch (error) {
        if (!(error instanceof BusError && error.reason === 'overloaded') || signal.aborted) throw error
        await clock.sleep(OVERLOAD_PAUSE_MS, signal)
      }
    }
  }
  return {
    send(topic, records) {
      if (records.length === 0) return last
      const sent = last.then(() => sendPatiently(topic, records))
      last = sent.catch(() => undefined)
      return sent
    },
  }
}
