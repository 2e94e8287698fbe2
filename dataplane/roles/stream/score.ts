import { createAnomalyWork } from '../../pipeline/work/anomaly.ts'
import type { RoleContext } from '../role.ts'
import { type BridgeConfig, followBridgeConfig } from './bridge-config.ts'
import { startStreamJob } from './stream-job.ts'

/** Scoring by rule and by Z-score (Spec: Anomaly scoring algorithm). */
export function start({ settings, log, clock }: RoleContext<'stream score'>) {
  const initial = { anomalyThreshold: settings.ANOMALY_THRESHOLD, windowSize: settings.WINDOW_SIZE }
  let config: BridgeConfig | undefined
  return startStreamJob({
    name: 'score',
    settings,
    counters: ['anomaliesDetected'],
    createWork(count, countDeadLetters, signal) {
      config ??= followBridgeConfig({ endpoint: settings.BRIDGE_ENDPOINT, initial, clock, log, signal })
      return createAnomalyWork({ settings, config: config.read, standsBy: false, count, countDeadLetters, clock, log })
    },
    clock,
    log,
  })
}
