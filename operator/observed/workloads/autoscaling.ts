/** Whether the autoscalers of a pipeline scale, as they tell themselves. Its pods serve without them. */
import { autoscalingOf, type Component, wantedComponents } from '../../api/components.ts'
import { conditionOf } from '../../api/status.ts'
import type { Finding } from '../finding.ts'
import type { Autoscaler, ForeignCondition } from '../foreign-kinds.ts'
import { isServed } from '../gathered.ts'
import type { PipelineView } from '../pipeline-view.ts'

const TYPE = 'AutoscalingReady'

/** Only where the resource asks for autoscaling. */
export function checkAutoscaling(view: PipelineView): readonly Finding[] {
  const { spec, gathered } = view
  const scaled = wantedComponents(spec).filter(component => autoscalingOf(spec, component) !== undefined)
  const byKeda = scaled.filter(component => autoscalingOf(spec, component)?.keda === true)
  if (scaled.length === 0) return []
  if (byKeda.length > 0 && !isServed(gathered, 'ScaledObject.keda.sh')) {
    const message = `${fieldOf(view, byKeda[0]!)}.keda: expected KEDA, found no ScaledObject API in this cluster`
    return [{ type: TYPE, status: 'False', reason: 'KedaNotInstalled', message, effect: 'stalled' }]
  }
  const verdicts = scaled.map(component => verdictOf(view, component))
  const said = RANKS.map(rank => verdicts.filter(verdict => verdict.rank === rank)).find(alike => alike.length > 0)!
  const { status, reason } = said[0]!
  return [{ type: TYPE, status, reason, message: said.map(({ message }) => message).join('; ') }]
}

/** The worst first. */
const RANKS = ['broken', 'unknown', 'atMaximum', 'well'] as const

interface Verdict extends Pick<Finding, 'status' | 'reason' | 'message'> {
  readonly rank: (typeof RANKS)[number]
}

function verdictOf(view: PipelineView, component: Component): Verdict {
  const autoscaler = view.gathered.autoscalers[component]
  const state = view.states[component]
  const waits = (reason: string, why: string): Verdict => ({ rank: 'unknown', status: 'Unknown', reason, message: `${component}: ${why}` })
  if (autoscaler === undefined) return waits('Creating', 'its autoscaler is not there yet')
  // Pods that are not ready have no metrics, and the condition of the component tells why.
  if (state === undefined || !state.isAvailable) return waits('PodsNotReady', 'whether it is scaled is known once its pods are ready')
  const trouble = troubleOf(autoscaler)
  if (trouble !== undefined) return brokenOf(view, component, autoscaler, trouble)
  const { maxReplicas } = autoscalingOf(view.spec, component)!
  const limited = conditionOf(autoscaler, 'ScalingLimited')
  if (limited?.status === 'True' && limited.reason === 'TooManyReplicas') {
    const message = `${component}: all ${maxReplicas} pods are in use and more are called for: ${fieldOf(view, component)}.maxReplicas is the limit`
    return { rank: 'atMaximum', status: 'True', reason: 'AtMaximum', message }
  }
  if ((autoscaler.status?.conditions ?? []).length === 0)
    return waits('NotChecked', `no controller has looked at ${nameOf(autoscaler)} yet`)
  return { rank: 'well', status: 'True', reason: 'Scaling', message: `${component} is scaled by ${nameOf(autoscaler)}` }
}

function brokenOf(view: PipelineView, component: Component, autoscaler: Autoscaler, { reason, message, type }: ForeignCondition): Verdict {
  const text = message || reason || `${type} is not as it should be`
  const advice = adviceFor(text)
  const said = `${fieldOf(view, component)}: expected ${nameOf(autoscaler)} to scale ${component}, seen: ${text}${advice === undefined ? '' : `; ${advice}`}`
  return { rank: 'broken', status: 'False', reason: reason || 'NotScaling', message: said }
}

/** Conditions of a HorizontalPodAutoscaler and of a ScaledObject, with the status that is trouble. */
const TROUBLE: readonly (readonly [kind: string, type: string, status: string])[] = [
  ['HorizontalPodAutoscaler', 'AbleToScale', 'False'],
  ['HorizontalPodAutoscaler', 'ScalingActive', 'False'],
  ['ScaledObject', 'Ready', 'False'],
  ['ScaledObject', 'Fallback', 'True'],
]

/** An autoscaler lets a component alone that somebody scaled to zero. */
const isMeant = ({ reason }: ForeignCondition) => reason === 'ScalingDisabled'

function troubleOf(autoscaler: Autoscaler): ForeignCondition | undefined {
  for (const [kind, type, status] of TROUBLE) {
    const condition = autoscaler.kind === kind ? conditionOf(autoscaler, type) : undefined
    if (condition?.status === status && !isMeant(condition)) return condition
  }
  return undefined
}

const METRICS_API = 'metrics.k8s.io'

const ADVICE: readonly (readonly [when: (text: string) => boolean, advice: string])[] = [
  [
    text => text.includes(METRICS_API) && text.includes('could not find'),
    'the cluster has no metrics-server, which tells the CPU use of pods',
  ],
  [text => text.includes(METRICS_API) || text.includes('resource metrics API'), 'metrics-server does not tell the CPU use of the pods yet'],
]

const adviceFor = (text: string) => ADVICE.find(([when]) => when(text))?.[1]

const nameOf = ({ kind, metadata: { name } }: Autoscaler) => `${kind} ${name}`

/** Where the user wrote it: stream jobs are scaled as the bridge is where they have none of their own. */
function fieldOf({ spec }: PipelineView, component: Component): string {
  const isJob = component === 'stream-etl' || component === 'stream-score'
  const owner = isJob ? (spec.stream?.autoscaling === undefined ? 'bridge' : 'stream') : component
  return `spec.${owner}.autoscaling`
}
