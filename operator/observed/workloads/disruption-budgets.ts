/** Whether the nodes of a pipeline's pods can be drained. Its pods serve without that. */
import { firstOf } from '../../../dataplane/text/listed.ts'
import type { Finding } from '../finding.ts'
import type { DisruptionBudget, Pod } from '../foreign-kinds.ts'
import { selects } from '../label-selector.ts'
import type { PipelineView } from '../pipeline-view.ts'

const TYPE = 'DisruptionBudgetsReady'
/** Budgets that one message names. */
const MAX_NAMED = 5

/** Mode AllInOne is one pod and has no budget. */
export function checkDisruptionBudgets({ spec, gathered: { budgets, otherBudgets, pods } }: PipelineView): readonly Finding[] {
  if (spec.mode === 'AllInOne') return []
  const guarded = budgets.map(componentOf)
  const doubled = otherBudgets.flatMap(budget => {
    const components = new Set(pods.filter(pod => guarded.includes(componentOf(pod)) && selectsPod(budget, pod)).map(componentOf))
    return [...components].map(component => `PodDisruptionBudget ${budget.metadata.name} selects pods of ${component}`)
  })
  if (doubled.length > 0) {
    const message = `expected one PodDisruptionBudget for each pod, seen that ${firstOf(doubled, MAX_NAMED)} besides: Kubernetes evicts no pod that has two, so that nodes cannot be drained; delete it, or change its selector`
    return [{ type: TYPE, status: 'False', reason: 'SeveralBudgets', message }]
  }
  const failed = budgets.flatMap(({ metadata: { name }, status }) =>
    (status?.conditions ?? []).map(({ message }) => `PodDisruptionBudget ${name}: ${message || 'its pods could not be counted'}`),
  )
  if (failed.length > 0) {
    const message = `expected pods that Kubernetes can count, seen: ${firstOf(failed, MAX_NAMED)}; none of them is evicted, so that nodes cannot be drained`
    return [{ type: TYPE, status: 'False', reason: SYNC_FAILED, message }]
  }
  return [{ type: TYPE, status: 'True', reason: 'Respected', message: 'no PodDisruptionBudget keeps nodes from being drained' }]
}

/** The reason of a budget's condition while its pods cannot be counted. */
export const SYNC_FAILED = 'SyncFailed'

const componentOf = ({ metadata }: DisruptionBudget | Pod) => metadata.labels?.['app.kubernetes.io/component'] ?? ''

const selectsPod = ({ spec }: DisruptionBudget, { metadata }: Pod) =>
  spec?.selector !== undefined && selects(spec.selector, metadata.labels)
