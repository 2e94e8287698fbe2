/**
 * Writes Kubernetes Events without delaying the work: a bounded queue, a slow pace, no repeats. Each namespace has a line of its own,
 * as its admission webhooks may not answer.
 */

import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import { createEventLines } from './event-lines.ts'
import { eventObject, type Transition } from './event-object.ts'

export const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }

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

export function createEventRecorder({ controller, instance }: EventRecorderConfig, deps: EventRecorderDeps): EventRecorder {
  const { client, clock, log } = deps
  const lines = createEventLines(MAX_QUEUED)
  const senders = new Set<Promise<void>>()
  const written = new Map<string, number>()
  const stopped = new AbortController()
  let count = 0

  const isRepeat = (key: string): boolean => {
    const lastMs = written.get(key)
    const repeats = lastMs !== undefined && monotonicMs(clock) - lastMs < REPEAT_MS
    written.delete(key)
    // The time of the one that was written: what comes and goes all day is told again and again.
    written.set(key, repeats ? lastMs : monotonicMs(clock))
    if (written.size > MAX_REMEMBERED) written.delete(written.keys().next().value!)
    return repeats
  }

  const send = async (): Promise<void> => {
    for (let event = lines.next(); event !== undefined; event = lines.next()) {
      const answer = await client.create(EVENTS, event, { signal: stopped.signal })
      lines.done(event)
      if (stopped.signal.aborted) return
      if (answer.ok) continue
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
      const event = eventObject(about, transition, { controller, instance, nowMs: clock.nowMs(), count: count++ })
      if (lines.add(event)) deps.onDropped?.()
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
