/** Why a pod is not ready, in one precise word. */
import { conditionOf } from '../../api/status.ts'
import type { Problem } from '../finding.ts'
import type { ContainerStatus, Pod } from '../foreign-kinds.ts'

type Check = (pod: Pod, container: ContainerStatus | undefined) => Problem | undefined

const IMAGE_REASONS = [
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
]

/** The first that applies counts. */
const CHECKS: readonly Check[] = [failed, unschedulable, imageTrouble, crashLooping, otherWaiting, notReady]

/** Undefined for a pod that is ready. One that is about to go is none of the trouble. */
export function podTrouble(pod: Pod): Problem | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || conditionOf(pod, 'Ready')?.status === 'True') return undefined
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  for (const check of CHECKS)
    for (const container of containers.length === 0 ? [undefined] : containers) {
      const trouble = check(pod, container)
      if (trouble !== undefined) return trouble
    }
  return undefined
}

/** The kubelet gave it up, such as for want of memory; a pod whose container failed has no reason of its own. */
function failed(pod: Pod): Problem | undefined {
  const { phase, reason, message } = pod.status ?? {}
  if (phase !== 'Failed' || reason === undefined) return undefined
  return { reason, message: `pod ${pod.metadata.name}: ${message || reason}` }
}

function unschedulable(pod: Pod): Problem | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  const said = scheduled.message ?? 'fits on no node'
  const advice = /PersistentVolumeClaim|persistentvolumeclaim/.test(said) ? `; ${claimsAdvice(pod)}` : ''
  return { reason: 'Unschedulable', message: `pod ${pod.metadata.name}: ${said}${advice}` }
}

/** The scheduler says that a volume is missing, its claim why. */
function claimsAdvice({ metadata: { name, namespace } }: Pod): string {
  return `\`kubectl describe pvc data-${name} --namespace ${namespace}\` says why: expected a storage class that makes volumes, in spec.allInOne.storage.storageClassName or as the default of the cluster`
}

/** Attempts and pauses between them take turns: both are one reason, so that the condition stands still. */
function imageTrouble(pod: Pod, container: ContainerStatus | undefined): Problem | undefined {
  const { reason = '', message = '' } = container?.state?.waiting ?? {}
  if (!IMAGE_REASONS.includes(reason)) return undefined
  const advice = 'expected an image that the nodes can pull: spec.image, spec.podTemplate.imagePullSecrets'
  return { reason: 'ImagePullBackOff', message: `pod ${pod.metadata.name}: ${message || reason}; ${advice}` }
}

/** Also while it runs between two crashes. */
function crashLooping(pod: Pod, container: ContainerStatus | undefined): Problem | undefined {
  const isWaiting = container?.state?.waiting?.reason === 'CrashLoopBackOff'
  const ended = container?.state?.terminated ?? container?.lastState?.terminated
  const restarts = container?.restartCount ?? 0
  if (!isWaiting && !(ended !== undefined && restarts >= 2)) return undefined
  const why = ended === undefined ? '' : `, the last time ${describeEnd(ended)}`
  return { reason: 'CrashLooping', message: `pod ${pod.metadata.name}: ended ${restarts} times${why}` }
}

function describeEnd({ reason, exitCode, message }: NonNullable<NonNullable<ContainerStatus['lastState']>['terminated']>): string {
  const named = reason === undefined || reason === 'Error' ? '' : `${reason}, `
  return `${named}exit code ${exitCode}${message ? `: ${lastWords(message)}` : ''}`
}

const MAX_WORDS = 500

/** The end of a log, in one line: its last lines say why a process ended. */
function lastWords(message: string): string {
  const text = message.trim().replaceAll(/\s*\n\s*/g, '; ')
  return text.length <= MAX_WORDS ? text : `… ${text.slice(2 - MAX_WORDS)}`
}

function otherWaiting(pod: Pod, container: ContainerStatus | undefined): Problem | undefined {
  const waiting = container?.state?.waiting
  if (waiting?.reason === undefined || ['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) return undefined
  return { reason: waiting.reason, message: `pod ${pod.metadata.name}: ${waiting.message ?? waiting.reason}` }
}

function notReady(pod: Pod): Problem {
  if (isOverlooked(pod)) {
    const message = `pod ${pod.metadata.name}: no scheduler has looked at it yet; spec.podTemplate.schedulerName: expected one that runs`
    return { reason: 'Unschedulable', message }
  }
  const ready = conditionOf(pod, 'Ready')
  return { reason: 'PodsNotReady', message: `pod ${pod.metadata.name}: ${ready?.message || 'is not ready yet'}` }
}

/** The scheduler of the cluster notes within a moment that it found no node; another that is not there never does. */
function isOverlooked({ status, spec }: Pod): boolean {
  const { schedulerName = DEFAULT_SCHEDULER } = spec ?? {}
  return (
    schedulerName !== DEFAULT_SCHEDULER && status?.phase === 'Pending' && !status.conditions?.some(({ type }) => type === 'PodScheduled')
  )
}

const DEFAULT_SCHEDULER = 'default-scheduler'
