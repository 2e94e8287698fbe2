/** Requests of operators to the API server, by its own audit log. */
import { setTimeout as sleep } from 'node:timers/promises'
import { auditLog } from '../../dataplane/testing/real/kubernetes-server.ts'

export interface AuditedRequest {
  readonly verb: string
  /** Plural, with the subresource where there is one. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly code: number
  /** When the request arrived, ms since the epoch. */
  readonly atMs: number
}

interface AuditLine {
  readonly verb: string
  readonly userAgent?: string
  readonly stage: string
  readonly requestReceivedTimestamp: string
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
}

/** Requests of operators that arrived since then, in this order; throws where the API server keeps no audit log. */
export function operatorRequests(sinceMs: number): readonly AuditedRequest[] {
  const text = auditLog('kubernetes')
  if (text === '') throw new Error('expected an API server that keeps an audit log: start it with CLUSTER_AUDIT=1')
  return text.split('\n').flatMap(line => {
    if (!line.includes('logpipeline-operator')) return []
    const { verb, userAgent, objectRef = {}, responseStatus, requestReceivedTimestamp } = JSON.parse(line) as AuditLine
    const atMs = Date.parse(requestReceivedTimestamp)
    if (userAgent !== 'logpipeline-operator' || atMs < sinceMs) return []
    const { resource = '', subresource, namespace = '', name = '' } = objectRef
    const whole = subresource === undefined ? resource : `${resource}/${subresource}`
    return [{ verb, resource: whole, namespace, name, code: responseStatus?.code ?? 0, atMs }]
  })
}

const READS = ['get', 'list', 'watch']

/** Writes in a namespace, in words; those of the Lease and of events do not count. */
export function operatorWrites(sinceMs: number, namespace: string): readonly string[] {
  return operatorRequests(sinceMs)
    .filter(request => request.namespace === namespace && !READS.includes(request.verb))
    .filter(({ resource }) => resource !== 'leases' && resource !== 'events')
    .map(({ verb, resource, name, code }) => `${verb} ${resource} ${name} ${code}`)
}

/** The same, once none came for as long as `quietMs`. */
export async function settledWrites(sinceMs: number, namespace: string, quietMs: number): Promise<readonly string[]> {
  for (let seen = -1; ; await sleep(quietMs)) {
    const writes = operatorWrites(sinceMs, namespace)
    if (writes.length === seen) return writes
    seen = writes.length
  }
}
