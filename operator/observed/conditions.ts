/** The status of a `LogPipeline`, from its view. */
import type { LogPipelineStatus } from '../api/status.ts'
import { CHECKS } from './checks.ts'
import { type Effect, type Finding, toCondition } from './finding.ts'
import type { PipelineView } from './pipeline-view.ts'
import { keptTopicPrefix } from './topic-prefix.ts'
import { startDeadlineMs } from './workloads/start-deadline.ts'

/** Parts of the status that come from the plan. */
export interface DesiredFacts {
  readonly inputsHash: string
  readonly endpoints: Readonly<Record<string, string>>
  /** Label selector of the bridge's pods, as text. */
  readonly selector: string
}

export interface StatusInput {
  readonly view: PipelineView
  readonly desired: DesiredFacts
  /** RFC 3339; the time of conditions whose status changes. */
  readonly now: string
}

export function pipelineStatus({ view, desired, now }: StatusInput): LogPipelineStatus {
  const { gathered, states } = view
  const { metadata, status } = gathered.pipeline
  const generation = metadata.generation ?? 0
  const deadlineMs = startDeadlineMs(status, { generation, inputsHash: desired.inputsHash, appliedMs: gathered.appliedMs })
  const isStartOverdue = deadlineMs !== undefined && Date.parse(now) >= deadlineMs
  const times = { generation, now, previous: status?.conditions ?? [] }
  const topicPrefix = keptTopicPrefix(gathered.pipeline)
  const scaled = gathered.workloads.bridge ?? gathered.workloads.standalone
  return {
    observedGeneration: generation,
    conditions: findings(isStartOverdue ? { ...view, states: withoutProgress(states) } : view).map(finding => toCondition(finding, times)),
    components: Object.fromEntries(Object.entries(states).map(([component, { counts }]) => [component, counts])),
    endpoints: desired.endpoints,
    ...(topicPrefix === undefined ? {} : { topicPrefix }),
    inputsHash: desired.inputsHash,
    selector: desired.selector,
    replicas: scaled?.status?.replicas ?? 0,
  }
}

/** The pod of mode AllInOne has had its time (`startDeadlineMs`). */
function withoutProgress({ standalone, ...others }: PipelineView['states']): PipelineView['states'] {
  return { ...others, ...(standalone && { standalone: { ...standalone, hasDeadlinePassed: true } }) }
}

/** The aggregate first (kstatus: `Reconciling` and `Stalled` are True only while something is not well). */
function findings(view: PipelineView): readonly Finding[] {
  const found = CHECKS.flatMap(check => check(view))
  return [...aggregate(found), checkPaused(view), ...found]
}

function aggregate(found: readonly Finding[]): readonly Finding[] {
  const first = (effect: Effect) => found.find(finding => finding.effect === effect)
  const stalled = first('stalled')
  const progressing = first('progressing')
  const cause = stalled ?? progressing
  if (cause === undefined)
    return [
      { type: 'Ready', status: 'True', reason: 'Ready', message: 'all components are available' },
      no('Reconciling', 'Settled', 'nothing is under way'),
      no('Stalled', 'Settled', 'nothing is in the way'),
    ]
  const ready: Finding = { ...cause, type: 'Ready', status: 'False' }
  return stalled === undefined
    ? [ready, { ...cause, type: 'Reconciling', status: 'True' }, no('Stalled', 'Progressing', 'nothing is in the way')]
    : [
        ready,
        no('Reconciling', 'Stalled', 'waits for somebody to act'),
        { ...cause, type: 'Stalled', status: 'True', reason: cause.stalledReason ?? cause.reason },
      ]
}

function no(type: string, reason: string, message: string): Finding {
  return { type, status: 'False', reason, message }
}

function checkPaused({ isPaused }: PipelineView): Finding {
  return isPaused
    ? { type: 'Paused', status: 'True', reason: 'Paused', message: 'objects are left as they are until the pipeline is no longer paused' }
    : no('Paused', 'NotPaused', 'changes are made')
}
