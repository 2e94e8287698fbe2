/** Which replica of a service shows a failure, where it is one alone: the others need no look (Decisions 6). */
import { entryOf } from './entry-of.ts'
import type { ObservedRecord, ObservedSystem } from './observed-system.ts'

/** Pods and hosts that were heard in the window, by service. */
export type Instances = ReadonlyMap<number, ReadonlySet<string>>

/** Records that chance puts to one of several replicas no more often than this are told as its own. */
const CHANCE = 0.01

/** Yields every few ms. */
export function* findInstances({ window }: Pick<ObservedSystem, 'window'>): Generator<void, Instances> {
  const instances = new Map<number, Set<string>>()
  let done = 0
  for (const { kind, source } of window.records) {
    if (++done % 5_000 === 0) yield
    if (source.instance !== undefined) entryOf(instances, kind.service, () => new Set()).add(source.instance)
  }
  return instances
}

/** The replica that all of `records` come from, where the service has others and chance hardly shows as much; records of a caller tell nothing of it. */
export function instanceOf(records: Iterable<ObservedRecord>, service: number, instances: Instances): string | undefined {
  const count = instances.get(service)?.size ?? 0
  let only: string | undefined
  let seen = 0
  for (const { kind, source } of records) {
    if (kind.service !== service || source.instance === undefined || (only !== undefined && only !== source.instance)) return undefined
    only = source.instance
    seen++
  }
  return count > 1 && count ** (1 - seen) <= CHANCE ? only : undefined
}
