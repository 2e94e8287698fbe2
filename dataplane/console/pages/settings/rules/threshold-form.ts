/** Thresholds as texts of a form, and what is wrong with them. */
import { type AnomalyConfig, LOOKBACK_RULE, parseLookback } from '../../../../domain/incidents/anomaly-config.ts'
import type { BridgeConfig } from '../../../api/bridge.ts'

export interface ThresholdForm {
  readonly minimumScore: number
  readonly lookbackWindow: string
  readonly recurring: AnomalyConfig['recurring']
  /** Absent while the bridge cannot be asked. */
  readonly anomalyThreshold?: number
  readonly windowSize?: number
}

export function openThresholds(
  anomaly: AnomalyConfig,
  bridge: Pick<BridgeConfig, 'anomalyThreshold' | 'windowSize'> | undefined,
): ThresholdForm {
  const { minimumScore, lookbackWindow, recurring } = anomaly
  return {
    minimumScore,
    lookbackWindow,
    recurring,
    ...(bridge && { anomalyThreshold: bridge.anomalyThreshold, windowSize: bridge.windowSize }),
  }
}

/** Decisions 7: bounds of the bridge's configuration. */
const BOUNDS = { anomalyThreshold: { above: 0, max: 100 }, windowSize: { min: 10, max: 100_000 } } as const

export function thresholdProblems({
  minimumScore,
  lookbackWindow,
  anomalyThreshold,
  windowSize,
}: ThresholdForm): Readonly<Partial<Record<keyof ThresholdForm, string>>> {
  const { anomalyThreshold: z, windowSize: size } = BOUNDS
  const isScore = Number.isFinite(minimumScore) && minimumScore >= 0 && minimumScore <= 1
  const isThreshold = anomalyThreshold === undefined || (anomalyThreshold > z.above && anomalyThreshold <= z.max)
  const isSize = windowSize === undefined || (Number.isInteger(windowSize) && windowSize >= size.min && windowSize <= size.max)
  return {
    ...(!isScore && { minimumScore: 'Expected a score from 0 to 1' }),
    ...(parseLookback(lookbackWindow) === undefined && { lookbackWindow: `Expected ${LOOKBACK_RULE}` }),
    ...(!isThreshold && { anomalyThreshold: 'Expected a number above 0, at most 100' }),
    ...(!isSize && { windowSize: 'Expected a whole number from 10 to 100,000' }),
  }
}

const ANOMALY_KEYS = ['minimumScore', 'lookbackWindow', 'recurring'] as const
const BRIDGE_KEYS = ['anomalyThreshold', 'windowSize'] as const

/** Changes for the ticketing agent and for the bridge; undefined where nothing changed. */
export function thresholdChanges(form: ThresholdForm, stored: ThresholdForm) {
  return { anomaly: changed(form, stored, ANOMALY_KEYS), bridge: changed(form, stored, BRIDGE_KEYS) }
}

/** Fields of a form that differ from those of before. */
export function thresholdEdits(form: ThresholdForm, before: ThresholdForm): Partial<ThresholdForm> {
  return changed(form, before, [...ANOMALY_KEYS, ...BRIDGE_KEYS]) ?? {}
}

function changed<K extends keyof ThresholdForm>(form: ThresholdForm, before: ThresholdForm, keys: readonly K[]) {
  const entries = keys.flatMap(key => (form[key] === before[key] || form[key] === undefined ? [] : [[key, form[key]]]))
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<Pick<ThresholdForm, K>>)
}
