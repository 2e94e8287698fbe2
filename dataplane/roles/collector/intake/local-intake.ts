import type { LocalCollector, LocalExport } from '../../../otlp-intake/local-collector.ts'
import { refusalOf } from '../../../otlp-intake/refusal.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters } from './collector-counters.ts'
import { Client } from './expected-clients.ts'
import type { Intake } from './intake.ts'

export interface LocalIntakeDeps {
  readonly intake: Intake
  readonly counters: CollectorCounters
  readonly log: Log
}

/** The way in for other doors of the process. */
export function createLocalIntake({ intake, counters, log }: LocalIntakeDeps): LocalCollector {
  const clients = new WeakMap<object, Client>()
  const clientOf = (source: object): Client => {
    const client = clients.get(source) ?? new Client()
    clients.set(source, client)
    return client
  }
  const accept = ({ transport, body, source, owner, arrange }: LocalExport) => {
    intake.checkOpen()
    const lease = intake.budget.lease()
    try {
      lease.grow(body.length)
    } catch (error) {
      lease.release()
      throw error
    }
    return intake.accept({ transport, body, encoding: 'identity', lease, client: clientOf(source), owner, arrange })
  }
  return {
    async accept(request) {
      try {
        return await accept(request)
      } catch (error) {
        const refusal = refusalOf(error, log)
        counters.refused(request.transport, refusal.reason)
        throw refusal
      }
    },
  }
}
