/** How the Deployment or StatefulSet of a component is. */
import type { Component } from '../../api/components.ts'
import type { ComponentStatus } from '../../api/status.ts'
import { conditionOf } from '../../api/status.ts'
import type { Problem } from '../finding.ts'
import type { Pod, Workload } from '../foreign-kinds.ts'
import { podTrouble } from './pod-trouble.ts'
import { withAdvice } from './refused-pods.ts'

export interface WorkloadState {
  readonly counts: ComponentStatus
  /** At least as many pods serve as have to. */
  readonly isAvailable: boolean
  /** All pods are of the newest version, and enough of them serve. */
  readonly isRolledOut: boolean
  readonly hasDeadlinePassed: boolean
  /** Why pods are not ready, where some are not. */
  readonly trouble?: Problem
}

/** `least`: pods that have to serve; what an autoscaler adds beyond does not count against it. */
export function workloadState(workload: Workload, pods: readonly Pod[], least?: number): WorkloadState {
  const { status = {} } = workload
  const desired = workload.spec?.replicas ?? 1
  const needed = Math.min(desired, least ?? desired)
  const updated = status.updatedReplicas ?? 0
  const ready = status.readyReplicas ?? 0
  const isSeen = (status.observedGeneration ?? 0) >= (workload.metadata.generation ?? 0)
  const isAvailable = (status.availableReplicas ?? 0) >= needed
  const isNewest = isSeen && updated >= Math.max(needed, status.replicas ?? 0) && isNewestRevision(workload)
  const isRolledOut = isNewest && isAvailable
  const progressing = conditionOf(workload, 'Progressing')
  const trouble = (isNewest ? undefined : pausedRollout(workload)) ?? worstTrouble(workload, pods)
  const image = workload.spec?.template?.spec?.containers?.[0]?.image
  const counts = {
    desired,
    ready,
    updated,
    ...(image === undefined ? {} : { image }),
    ...(trouble === undefined ? {} : { message: `${trouble.reason}: ${trouble.message}` }),
  }
  return {
    counts,
    isAvailable,
    isRolledOut,
    hasDeadlinePassed: progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded',
    ...(trouble === undefined ? {} : { trouble }),
  }
}

/** A StatefulSet counts a pod as updated before it has replaced it. */
function isNewestRevision({ status: { currentRevision, updateRevision } = {} }: Workload): boolean {
  return currentRevision === updateRevision
}

/** By `kubectl rollout pause`: the field is not ours, so it stays, and the API server counts no deadline meanwhile. */
function pausedRollout({ metadata: { name, namespace }, spec }: Workload): Problem | undefined {
  if (spec?.paused !== true) return undefined
  const message = `the roll-out is paused (spec.paused of the Deployment): \`kubectl rollout resume deployment ${name} --namespace ${namespace}\` lets it go on`
  return { reason: 'RolloutPaused', message, effect: 'stalled' }
}

/** Reasons that tell more, first. */
const ORDER = ['ImagePullBackOff', 'CrashLooping', 'CreateContainerConfigError', 'CreateContainerError', 'Unschedulable']

function worstTrouble(workload: Workload, pods: readonly Pod[]): Problem | undefined {
  const failure = conditionOf(workload, 'ReplicaFailure')
  if (failure?.status === 'True') {
    const refused = { reason: failure.reason ?? 'ReplicaFailure', message: failure.message ?? 'pods cannot be created' }
    return withAdvice(refused, workload.metadata.labels?.['app.kubernetes.io/component'] as Component | undefined)
  }
  if (isWithoutPods(workload, pods)) return { reason: 'FailedCreate', message: whereRefusalsStand(workload.metadata) }
  const rank = ({ reason }: Problem) => (ORDER.includes(reason) ? ORDER.indexOf(reason) : ORDER.length)
  const worstOf = (some: readonly Pod[]) => {
    const troubles = some.toSorted(byName).flatMap(pod => podTrouble(pod) ?? [])
    return troubles.sort((a, b) => rank(a) - rank(b))[0]
  }
  const { true: over = [], false: others = [] } = Object.groupBy(pods, pod => `${isOver(pod)}` as const)
  const isLacking = (workload.status?.readyReplicas ?? 0) < (workload.spec?.replicas ?? 1)
  return worstOf(others) ?? (isLacking ? worstOf(over) : undefined)
}

/** A pod that ended stays in the list for days, beside the one in its place. */
const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

/** Its controller has looked at it and made no pod. The pod comes before the status that speaks of it, so this is no passing state. */
function isWithoutPods({ kind, metadata, spec, status = {} }: Workload, pods: readonly Pod[]): boolean {
  const isSeen = status.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0)
  return kind === 'StatefulSet' && (spec?.replicas ?? 1) > 0 && isSeen && (status.replicas ?? 0) === 0 && pods.length === 0
}

/** Unlike a Deployment, a StatefulSet says in its Events alone why its pods are refused. */
function whereRefusalsStand({ name, namespace }: Workload['metadata']): string {
  return `no pod could be made: \`kubectl describe statefulset ${name} --namespace ${namespace}\` says why, such as a quota, a limit range or a policy`
}

/** So that the message stands still. */
const byName = (a: Pod, b: Pod) => (a.metadata.name < b.metadata.name ? -1 : 1)
