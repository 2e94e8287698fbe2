/**
 * Writes Kubernetes Events without delaying the work: a bounded queue, a slow pace, no repeats. Each namespace has a line of its own,
 * as its admission webhooks may not answer.
 */

import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import { microTime } from './lease.ts'

export const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }

/** A change of a condition. Callers record changes only, not states. */
export interface Transition {
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase. */
  readonly reason: string
  /** The operator's action or the condition it looked at, one word in CamelCase. */
  readonly action: string
  readonly note: string
}

export interface EventRecorderConfig {
  readonly controller: string
  /** Name of this process. */
  readonly instance: string
}

export interface EventRecorderDeps {
  /** With a rate limit of its own. */
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Log
  readonly onDropped?: () => void
}

export interface EventRecorder {
  record(about: KubernetesObject, transition: Transition): void
  /** Writes queued events for two seconds at most. */
  stop(): Promise<void>
}

const MAX_QUEUED = 200
const MAX_REMEMBERED = 5000
/** The same event about the same object is not written again within this time. */
const REPEAT_MS = 10 * 60_000
const STOP_MS = 2000
/** Namespaces whose events are on their way at once, one of each. */
const AT_ONCE = 40
/** The API server's limit on `note`, bytes. */
const MAX_NOTE = 1024

export function createEventRecorder({ controller, instance }: EventRecorderConfig, deps: EventRecorderDeps): EventRecorder {
  const { client, clock, log } = deps
  /** Events that wait, by namespace; a namespace without any is not in it. */
  const lines = new Map<string, KubernetesObject[]>()
  /** Namespaces that have an event on its way. */
  const busy = new Set<string>()
  const senders = new Set<Promise<void>>()
  const written = new Map<string, number>()
  const stopped = new AbortController()
  let count = 0
  let queued = 0

  const isRepeat = (key: string): boolean => {
    const lastMs = written.get(key)
    const repeats = lastMs !== undefined && monotonicMs(clock) - lastMs < REPEAT_MS
    written.delete(key)
    // The time of the one that was written: what comes and goes all day is told again and again.
    written.set(key, repeats ? lastMs : monotonicMs(clock))
    if (written.size > MAX_REMEMBERED) written.delete(written.keys().next().value!)
    return repeats
  }

  const build = ({ apiVersion, kind, metadata }: KubernetesObject, { type, reason, action, note }: Transition): KubernetesObject => {
    const { name, namespace = 'default', uid, resourceVersion } = metadata
    const suffix = `${clock.nowMs().toString(16)}${(count++ % 4096).toString(16).padStart(3, '0')}`
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${name.slice(0, 230)}.${suffix}`, namespace },
      eventTime: microTime(clock.nowMs()),
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

  const takeOf = (namespace: string, line: KubernetesObject[]): KubernetesObject => {
    queued -= 1
    const [event] = line.splice(0, 1)
    // Its next one comes after those of the others.
    lines.delete(namespace)
    if (line.length > 0) lines.set(namespace, line)
    return event!
  }

  const next = (): KubernetesObject | undefined => {
    for (const [namespace, line] of lines) if (!busy.has(namespace)) return takeOf(namespace, line)
    return undefined
  }

  /** The oldest of the namespace that has most. */
  const drop = (): void => {
    const [first, ...others] = lines
    if (first === undefined) return
    takeOf(...others.reduce((longest, other) => (other[1].length > longest[1].length ? other : longest), first))
    deps.onDropped?.()
  }

  const send = async (): Promise<void> => {
    for (let event = next(); event !== undefined && !stopped.signal.aborted; event = next()) {
      const { namespace = '' } = event.metadata
      busy.add(namespace)
      const answer = await client.create(EVENTS, event, { signal: stopped.signal })
      busy.delete(namespace)
      if (answer.ok || stopped.signal.aborted) continue
      const { reason, message, advice } = answer.failure
      log.warn({ reason, advice }, `an event is lost: ${message}`)
      deps.onDropped?.()
    }
  }

  const begin = (): void => {
    if (senders.size >= AT_ONCE) return
    const sender = send().finally(() => senders.delete(sender))
    senders.add(sender)
  }

  return {
    record(about, transition) {
      if (stopped.signal.aborted || isRepeat(`${about.metadata.uid} ${transition.reason} ${transition.note}`)) return
      if (queued >= MAX_QUEUED) drop()
      const event = build(about, transition)
      const { namespace = '' } = event.metadata
      const line = lines.get(namespace) ?? []
      line.push(event)
      lines.set(namespace, line)
      queued += 1
      begin()
    },
    async stop() {
      const timer = new AbortController()
      await Promise.race([Promise.all(senders), clock.sleep(STOP_MS, timer.signal)])
      timer.abort()
      stopped.abort()
      await Promise.all(senders)
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
