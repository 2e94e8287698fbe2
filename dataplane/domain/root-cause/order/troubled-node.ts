/** The node on which several services fail, or fall silent, while they do well on others: it has a fault that is none of theirs (Decisions 6). */

import type { Failures } from '../detectors/failures.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { ObservedPeriod, ObservedSystem } from '../observed/observed-system.ts'

export interface TroubledNode {
  readonly name: string
  /** Services that fail there: two at least. */
  readonly services: ReadonlySet<number>
  /** `errors`: nearly all of theirs are written there; `silence`: they are heard less from there. */
  readonly shows: 'errors' | 'silence'
}

const MIN_SERVICES = 2
const MIN_ERRORS = 2
/** Share of a service's errors. */
const NEARLY_ALL = 0.9
/** Errors that chance puts on one node no more often than this tell something of it. */
const CHANCE = 0.01
/** A service falls silent on a node where less than this share of what is expected is heard, */
const SILENT_SHARE = 0.4
/** and so many standard deviations are missing. */
const MISSING = 3

/** Lines of one request come together: what a service writes in one, or in one second, is one piece of evidence. */
const TOGETHER_MS = 1_000

/** Requests, and seconds beside these, in which a service is heard from a node. */
type NodeCounts = ReadonlyMap<number, ReadonlyMap<string, number>>

/** Yields every few ms. */
export function* findTroubledNode(system: ObservedSystem, failures: Failures): Generator<void, TroubledNode | undefined> {
  const { window, baseline } = system
  const now = yield* countByNode(window, () => true)
  const errors = yield* countByNode(
    window,
    ({ isError, kind }) => isError && failures.risen.has(kind) && !failures.echoing.has(kind.service),
  )
  const failing = mostServices(
    servicesByNode(errors, (service, node, count) => failsThere(errors.get(service)!, now.get(service)!, node, count)),
  )
  if (failing !== undefined) return { ...failing, shows: 'errors' }
  const before = yield* countByNode(baseline, () => true)
  const silent = mostServices(
    servicesByNode(before, (service, node, count) => isSilentThere({ before: before.get(service)!, now: now.get(service), node, count })),
  )
  return silent === undefined ? undefined : { ...silent, shows: 'silence' }
}

function* countByNode(
  { records }: Pick<ObservedPeriod, 'records'>,
  counts: (record: ObservedPeriod['records'][number]) => boolean,
): Generator<void, NodeCounts> {
  const byService = new Map<number, Map<string, Set<string | number>>>()
  let done = 0
  for (const record of records) {
    if (++done % 5_000 === 0) yield
    const { node, traceId } = record.source
    if (node === undefined || !counts(record)) continue
    const byNode = entryOf(byService, record.kind.service, () => new Map<string, Set<string | number>>())
    entryOf(byNode, node, () => new Set()).add(traceId === '' ? Math.floor(record.timeMs / TOGETHER_MS) : traceId)
  }
  return new Map([...byService].map(([service, byNode]) => [service, new Map([...byNode].map(([node, { size }]) => [node, size]))]))
}

function servicesByNode(
  counts: NodeCounts,
  isTroubled: (service: number, node: string, count: number) => boolean,
): ReadonlyMap<string, ReadonlySet<number>> {
  const services = new Map<string, Set<number>>()
  for (const [service, byNode] of counts)
    for (const [node, count] of byNode) if (isTroubled(service, node, count)) entryOf(services, node, () => new Set()).add(service)
  return services
}

function failsThere(errors: ReadonlyMap<string, number>, all: ReadonlyMap<string, number>, node: string, count: number): boolean {
  const share = all.get(node)! / sum(all)
  return count >= MIN_ERRORS && count >= NEARLY_ALL * sum(errors) && share ** count <= CHANCE
}

interface NodeShare {
  readonly before: ReadonlyMap<string, number>
  readonly now: ReadonlyMap<string, number> | undefined
  readonly node: string
  readonly count: number
}

/** Against the other nodes of the service: more or less of all of it tells nothing of one. */
function isSilentThere({ before, now, node, count }: NodeShare): boolean {
  const seen = now?.get(node) ?? 0
  const elsewhere = now === undefined ? 0 : sum(now) - seen
  const elsewhereBefore = sum(before) - count
  if (elsewhereBefore === 0) return false
  const expected = (count / elsewhereBefore) * elsewhere
  return seen < SILENT_SHARE * expected && expected - seen >= MISSING * Math.sqrt(expected)
}

function mostServices(byNode: ReadonlyMap<string, ReadonlySet<number>>): Pick<TroubledNode, 'name' | 'services'> | undefined {
  const [first, second] = [...byNode].sort(([, a], [, b]) => b.size - a.size)
  // Where two have as many, it is not the node.
  if (first === undefined || first[1].size < MIN_SERVICES || second?.[1].size === first[1].size) return undefined
  return { name: first[0], services: first[1] }
}

function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0
  for (const count of counts.values()) all += count
  return all
}
