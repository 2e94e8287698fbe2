/** One condition for each component; the two stream jobs share theirs. */
import { COMPONENTS, type Component, componentName } from '../../api/components.ts'
import { type Effect, effectOfRefusal, type Finding, type Problem } from '../finding.ts'
import { type PipelineView, whatIsLacking } from '../pipeline-view.ts'
import type { WorkloadState } from './workload-state.ts'

export function checkComponents(view: PipelineView): readonly Finding[] {
  const findings = view.components.map(component => checkComponent(view, component))
  const byType = Map.groupBy(findings, ({ type }) => type)
  return [...byType.values()].map(worst)
}

const RANK: Readonly<Record<Effect, number>> = { stalled: 0, progressing: 1 }

function worst(findings: readonly Finding[]): Finding {
  const rank = ({ effect }: Finding) => (effect === undefined ? 2 : RANK[effect])
  return [...findings].sort((a, b) => rank(a) - rank(b))[0]!
}

function checkComponent(view: PipelineView, component: Component): Finding {
  const type = COMPONENTS[component].condition
  const state = view.states[component]
  return { type, ...(state === undefined ? checkMissing(view, component) : checkState(component, state)) }
}

type Verdict = Omit<Finding, 'type'>

function checkMissing(view: PipelineView, component: Component): Verdict {
  const cause = whatIsLacking(view, component)
  if (cause !== undefined) return { status: 'False', ...cause, message: `${component} waits: ${cause.message}` }
  if (view.isPaused)
    return { status: 'False', reason: 'Paused', message: `${component} is not made while the pipeline is paused`, effect: 'stalled' }
  const refusal = refusalOf(view, component)
  if (refusal !== undefined) {
    const { reason, message } = refusal
    return { status: 'False', reason, message: `${component} cannot be made: ${message}`, effect: effectOfRefusal(refusal) }
  }
  return { status: 'False', reason: 'Creating', message: `${component} is being made`, effect: 'progressing' }
}

/** Why its workload could not be applied the last time. */
function refusalOf({ gathered: { pipeline, problems } }: PipelineView, component: Component): Problem | undefined {
  const name = componentName(pipeline.metadata, component)
  return problems.find(({ object }) => object.name === name && ['Deployment', 'StatefulSet'].includes(object.kind))
}

/** The status says whether it serves; the reason, whether the newest version does and why not. */
function checkState(component: Component, state: WorkloadState): Verdict {
  const { isAvailable, isRolledOut, hasDeadlinePassed, trouble, counts } = state
  const ready = `${component}: ${counts.ready} of ${counts.desired} pods are ready`
  if (isRolledOut) {
    const message = trouble === undefined ? ready : `${ready}; ${trouble.message}`
    return counts.desired === 0
      ? { status: 'True', reason: 'ScaledToZero', message: `${component} is scaled to zero` }
      : { status: 'True', reason: 'Available', message }
  }
  const status = isAvailable ? 'True' : 'False'
  const reason = trouble?.reason ?? (hasDeadlinePassed ? 'ProgressDeadlineExceeded' : 'RolloutInProgress')
  const parts = [
    ready,
    `${counts.updated} of the newest version`,
    trouble?.message,
    hasDeadlinePassed ? 'no progress within the deadline' : undefined,
  ]
  const message = parts.filter(part => part !== undefined).join('; ')
  if (!hasDeadlinePassed) return { status, reason, message, effect: trouble?.effect ?? 'progressing' }
  return { status, reason, message, effect: 'stalled', stalledReason: 'ProgressDeadlineExceeded' }
}
