import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { askedReplicas, autoscalingOf, COMPONENTS, type Component, leastAutoscaled } from '../api/components.ts'
import type { PipelineContext } from './pipeline-context.ts'

/**
 * `spec.replicas` as it is applied. Undefined leaves the field to its owner: an autoscaler, or a user who scaled a component for which the resource asks for no number.
 * While the operator alone owns the field it has to be applied: a field that its only owner leaves out falls back to 1.
 */
export function appliedReplicas(context: PipelineContext, component: Component): number | undefined {
  const live = context.gathered.workloads[component]
  const asked = askedReplicas(context.spec, component)
  const autoscaling = autoscalingOf(context.spec, component)
  if (autoscaling === undefined && asked !== undefined) return asked
  if (live !== undefined && isScaledByOthers(live)) return undefined
  // Nothing tells who set it: it stays what it is.
  const stays = live !== undefined && live.metadata.managedFields === undefined ? live.spec?.replicas : undefined
  if (autoscaling === undefined) return stays ?? COMPONENTS[component].defaultReplicas
  // An autoscaler leaves a Deployment alone that is scaled to zero: it would stay there.
  return stays ?? (live?.spec?.replicas || leastAutoscaled(context.spec, component))
}

/** The least number of pods that is to be expected. */
export function leastReplicas(context: PipelineContext, component: Component): number {
  const autoscaled = leastAutoscaled(context.spec, component)
  return autoscaled ?? appliedReplicas(context, component) ?? context.gathered.workloads[component]?.spec?.replicas ?? 1
}

/** Whether an autoscaler or a user (`kubectl scale`) set `spec.replicas` last, not the operator. */
export function isScaledByOthers({ metadata }: KubernetesObject): boolean {
  const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas'] !== undefined)
  return owners.some(({ manager }) => manager !== OPERATOR_NAME)
}
