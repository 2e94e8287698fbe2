import { DEAD_LETTERS_COUNTER } from '../../contract/counters.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { CountDeadLetters } from './dead-letter.ts'

/** Tenants with a time series of their own; letters of further ones are counted together. */
export const MAX_LABELLED_TENANTS = 1_000
const OTHERS = 'other tenants'

/** Registers `logpipeline_dead_letters_total`. A letter whose key names no tenant has the empty one. */
export function createDeadLetterCounter(metrics: Metrics): CountDeadLetters {
  const add = metrics.labelledCounter(DEAD_LETTERS_COUNTER, ['stage', 'tenant'])
  const tenants = new Set<string>()
  return (stage, tenant, letters) => {
    if (tenants.size < MAX_LABELLED_TENANTS) tenants.add(tenant)
    add([stage, tenants.has(tenant) ? tenant : OTHERS], letters)
  }
}
