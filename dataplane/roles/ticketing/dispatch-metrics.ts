/** Counts dispatches, by platform and by target. */
import { DISPATCH_ATTEMPTS_COUNTER, OLDEST_DISPATCH_GAUGE, TARGET_METRICS, UNTOLD_COUNTER } from '../../contract/counters.ts'
import { parseTargetId, type TargetId } from '../../contract/target-id.ts'
import type { TicketAgentDeps } from '../../pipeline/tickets/ticket-agent.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** Targets of all tenants that have series of their own; further ones share the target `other`. */
const MAX_TARGETS = 1_000

export function createDispatchMetrics(
  metrics: Metrics,
  oldestPendingSeconds: () => number,
): Required<Pick<TicketAgentDeps, 'onAttempt' | 'onFailed' | 'onUntold'>> {
  const attempts = metrics.labelledCounter(DISPATCH_ATTEMPTS_COUNTER, ['platform', 'result'])
  const dispatched = metrics.labelledCounter(TARGET_METRICS.dispatched, ['target'])
  const failed = metrics.labelledCounter(TARGET_METRICS.failed, ['target'])
  const untold = metrics.counters({ untold: UNTOLD_COUNTER })
  const last = new Map<string, number>()
  const lastFailures = new Map<string, number>()
  const known = new Set<string>()
  metrics.labelledGauge(TARGET_METRICS.lastDispatch, 'target', async () => [...last])
  metrics.labelledGauge(TARGET_METRICS.lastFailure, 'target', async () => [...lastFailures])
  metrics.gauge(OLDEST_DISPATCH_GAUGE, oldestPendingSeconds)
  const labelOf = (target: TargetId) => {
    if (!known.has(target) && known.size >= MAX_TARGETS) return 'other'
    known.add(target)
    return target
  }
  return {
    onAttempt({ target, result, atMs }) {
      attempts([parseTargetId(target)?.platform ?? 'other', result], 1)
      const label = labelOf(target)
      if (result !== 'delivered') {
        lastFailures.set(label, atMs / 1_000)
        return
      }
      dispatched([label], 1)
      last.set(label, atMs / 1_000)
    },
    onUntold: () => untold('untold', 1),
    onFailed: ({ platform }) => failed([labelOf(platform)], 1),
  }
}
