/** Counts what the operator asked for, by what and by pipeline. */
import { type Quantiles, quantiles } from '../quantiles.ts'
import type { AuditedRequest } from './audit-log.ts'
import { pipelineOf } from './pipelines.ts'

export interface RequestCounts {
  /** `patch services` → how many. */
  readonly byKind: Readonly<Record<string, number>>
  readonly failed: number
  readonly objectWrites: number
  readonly statusWrites: number
  readonly eventWrites: number
  readonly leaseWrites: number
  /** Objects that were written at all: fewer writes do not do. */
  readonly objectsWritten: number
  readonly reads: number
  /** How long the API server took for each write. */
  readonly writeMs: Quantiles
}

type Sort = 'objectWrites' | 'statusWrites' | 'eventWrites' | 'leaseWrites' | 'reads'

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

export function countRequests(requests: readonly AuditedRequest[]): RequestCounts {
  const byKind: Record<string, number> = {}
  const bySort: Record<Sort, number> = { objectWrites: 0, statusWrites: 0, eventWrites: 0, leaseWrites: 0, reads: 0 }
  const objects = new Set<string>()
  for (const request of requests) {
    const kind = `${request.verb} ${request.resource}`
    byKind[kind] = (byKind[kind] ?? 0) + 1
    const sort = sortOf(request)
    bySort[sort] += 1
    if (sort === 'objectWrites') objects.add(objectKey(request))
  }
  const failed = requests.filter(({ status }) => status >= 400).length
  const writeMs = quantiles(requests.filter(({ verb }) => WRITES.has(verb)).map(({ durationMs }) => durationMs))
  return { byKind, failed, ...bySort, objectsWritten: objects.size, writeMs }
}

/** By pipeline, when the last of its objects was written (ms since the epoch). */
export function lastObjectWrites(requests: readonly AuditedRequest[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>()
  for (const request of requests) {
    const pipeline = pipelineOf(request.name)
    if (pipeline === undefined || sortOf(request) !== 'objectWrites') continue
    last.set(pipeline, Math.max(last.get(pipeline) ?? 0, request.atMs))
  }
  return last
}

function sortOf({ verb, resource }: AuditedRequest): Sort {
  if (!WRITES.has(verb)) return 'reads'
  if (resource === 'events') return 'eventWrites'
  if (resource === 'leases') return 'leaseWrites'
  return resource.endsWith('/status') ? 'statusWrites' : 'objectWrites'
}

const objectKey = ({ resource, namespace, name }: AuditedRequest) => `${resource} ${namespace}/${name}`
