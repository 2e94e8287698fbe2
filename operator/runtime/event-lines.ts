/** Events that wait for being written: a line for each namespace, whose turns come round. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'

export interface EventLines {
  /** True where the longest line had to give up its oldest event for this one. */
  add(event: KubernetesObject): boolean
  /** The oldest event of a namespace that has none under way; undefined where each that has any waits for its turn. */
  next(): KubernetesObject | undefined
  /** The event that `next` gave was answered for, or given up. */
  done(event: KubernetesObject): void
}

export function createEventLines(maxQueued: number): EventLines {
  /** Events that wait, by namespace; a namespace without any is not in it. */
  const lines = new Map<string, KubernetesObject[]>()
  /** Namespaces that have an event on its way. */
  const busy = new Set<string>()
  let queued = 0

  const takeOf = (namespace: string, line: KubernetesObject[]): KubernetesObject => {
    queued -= 1
    const [event] = line.splice(0, 1)
    // Its next one comes after those of the others.
    lines.delete(namespace)
    if (line.length > 0) lines.set(namespace, line)
    return event!
  }

  /** The oldest of the namespace that has most. */
  const dropOldest = (): void => {
    const [first, ...others] = lines
    if (first === undefined) return
    takeOf(...others.reduce((longest, other) => (other[1].length > longest[1].length ? other : longest), first))
  }

  return {
    add(event) {
      const isFull = queued >= maxQueued
      if (isFull) dropOldest()
      const namespace = namespaceOf(event)
      const line = lines.get(namespace) ?? []
      line.push(event)
      lines.set(namespace, line)
      queued += 1
      return isFull
    },
    next() {
      for (const [namespace, line] of lines)
        if (!busy.has(namespace)) {
          busy.add(namespace)
          return takeOf(namespace, line)
        }
      return undefined
    },
    done: event => void busy.delete(namespaceOf(event)),
  }
}

const namespaceOf = ({ metadata }: KubernetesObject): string => metadata.namespace ?? ''
