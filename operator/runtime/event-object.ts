/** A change of a condition as an `Event` of Kubernetes. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { microTime } from './lease.ts'

/** A change of a condition. Callers record changes only, not states. */
export interface Transition {
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase. */
  readonly reason: string
  /** The operator's action or the condition it looked at, one word in CamelCase. */
  readonly action: string
  readonly note: string
}

export interface EventSource {
  readonly controller: string
  /** Name of the process. */
  readonly instance: string
  readonly nowMs: number
  /** Events of the process before this one: tells apart those of one millisecond. */
  readonly count: number
}

/** The API server's limit on `note`, bytes. */
const MAX_NOTE = 1024

export function eventObject(
  { apiVersion, kind, metadata }: KubernetesObject,
  { type, reason, action, note }: Transition,
  { controller, instance, nowMs, count }: EventSource,
): KubernetesObject {
  const { name, namespace = 'default', uid, resourceVersion } = metadata
  const suffix = `${nowMs.toString(16)}${(count % 4096).toString(16).padStart(3, '0')}`
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 230)}.${suffix}`, namespace },
    eventTime: microTime(nowMs),
    type,
    reason,
    action,
    note: cut(note),
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    regarding: {
      apiVersion,
      kind,
      name,
      namespace,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

/** Whole characters of at most `MAX_NOTE` bytes. */
function cut(note: string): string {
  const bytes = Buffer.from(note)
  if (bytes.length <= MAX_NOTE) return bytes.toString()
  const end = MAX_NOTE - Buffer.byteLength('…')
  return `${new TextDecoder().decode(bytes.subarray(0, end), { stream: true })}…`
}
