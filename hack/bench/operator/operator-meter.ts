/** Costs of the operator's process, and its own figures of its work. */

import type { OperatorProcess } from '../../../operator/testing/operator-process.ts'
import { cpuSeconds, residentMemory } from '../process-usage.ts'

export interface OperatorReading {
  readonly cpuSeconds: number
  readonly rssMb: number
  readonly peakRssMb: number
  readonly reconciles: number
  readonly reconcileSeconds: number
  /** Reconciles that took at most 5 ms. */
  readonly quickReconciles: number
  readonly eventsDropped: number
}

export interface ReconcileCost {
  readonly reconciles: number
  readonly meanMs: number
  readonly shareUpTo5Ms: number
  /** CPU of the whole process, watches included, for each reconcile. */
  readonly cpuMs: number
}

const LABEL = 'controller="logpipeline"'
const TIME = 'controller_runtime_reconcile_time_seconds'

export async function readOperator({ child, url }: OperatorProcess): Promise<OperatorReading> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (sample: string) =>
    Number(
      text
        .split('\n')
        .find(line => line.startsWith(`${sample} `))
        ?.split(' ')
        .at(-1) ?? 0,
    )
  const memory = residentMemory(child.pid!)
  return {
    cpuSeconds: cpuSeconds(child.pid!),
    rssMb: memory.nowMb,
    peakRssMb: memory.peakMb,
    reconciles: value(`${TIME}_count{${LABEL}}`),
    reconcileSeconds: value(`${TIME}_sum{${LABEL}}`),
    quickReconciles: value(`${TIME}_bucket{le="0.005",${LABEL}}`),
    eventsDropped: value('logpipeline_operator_events_dropped_total'),
  }
}

export function reconcileCost(before: OperatorReading, after: OperatorReading): ReconcileCost {
  const reconciles = after.reconciles - before.reconciles
  return {
    reconciles,
    meanMs: ((after.reconcileSeconds - before.reconcileSeconds) * 1000) / reconciles,
    shareUpTo5Ms: (after.quickReconciles - before.quickReconciles) / reconciles,
    cpuMs: ((after.cpuSeconds - before.cpuSeconds) * 1000) / reconciles,
  }
}
