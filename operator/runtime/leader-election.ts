/** Leader election: of several operators the holder of the Lease (coordination.k8s.io) leads, as with client-go. */

import { performance } from 'node:perf_hooks'
import { type ApiAnswer, type ApiFailure, NO_ANSWER } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'

export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }

export interface LeaderElectionConfig {
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** Names this process: no two may have the same. */
  readonly identity: string
}

export interface LeaderElectionDeps {
  /** Used by nothing else: neither a busy controller nor a slow event must cost the lead. */
  readonly client: KubeClient
  /** Must not jump: best a clock that counts from the start of the process. */
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  readonly onLead?: (leads: boolean) => void
}

export interface LeaderElection {
  start(): void
  readonly leads: boolean
  /** True while no other operator can lead: false from the moment at which the time to renew is over, even before a failed renewal is noticed. */
  readonly surelyLeads: boolean
  /** The leader, as far as known. */
  readonly holder: string
  /** Resolves when this process leads. */
  readonly acquired: Promise<void>
  /** Rejects when it led and no longer does: it must exit at once. */
  readonly lost: Promise<never>
  /** Gives the lead back, so that another need not wait for its end. */
  stop(): Promise<void>
}

/** How long others wait for a leader that is silent; how long a leader tries before it gives up; how often it tries, from the begin of one to that of the next. */
export const LEASE_MS = 15_000
export const RENEW_MS = 10_000
export const RETRY_MS = 2000
const REQUEST_MS = 5000

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

export function createLeaderElection(config: LeaderElectionConfig, deps: LeaderElectionDeps): LeaderElection {
  const { client, clock, log } = deps
  const { namespace, name, identity } = config
  const stopped = new AbortController()
  const acquired = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  /** The Lease as seen last, and when it last changed: times within it are another machine's. */
  let seen: { readonly lease: KubernetesObject; readonly changedMs: number } | undefined
  let leads = false
  /** A write of ours may have made us the holder, whether or not its answer came. */
  let mayHold = false
  let renewedMs = 0
  let running: Promise<void> | undefined
  let lastFailure = ''

  const remember = (lease: KubernetesObject): void => {
    if (seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) seen = { lease, changedMs: clock.nowMs() }
  }

  /** Takes or renews the Lease; false when that did not work. */
  const tryHold = async (): Promise<boolean> => {
    // A leader knows the Lease from its own last write and need not ask for it again.
    const isKnown = leads && seen !== undefined
    if (!isKnown) {
      const got = await client.get(LEASES, { namespace, name }, timeLimit())
      if (!got.ok && got.failure.status !== 404) return tell(got.failure)
      if (got.ok) remember(got.value)
      else seen = undefined
    }
    if (seen !== undefined && isHeldByOther(specOf(seen.lease), seen.changedMs)) return false
    mayHold = true
    const startMs = clock.nowMs()
    const written = await write(nextSpec(seen === undefined ? undefined : specOf(seen.lease)), timeLimit())
    if (!written.ok) {
      // Another's, or deleted, or a renewal that was given up arrived all the same.
      const isOther = written.failure.status === 409 || written.failure.status === 404
      if (isOther) seen = undefined
      return isOther && isKnown && !isOverdue() ? tryHold() : tell(written.failure)
    }
    remember(written.value)
    renewedMs = startMs
    lastFailure = ''
    return true
  }

  const timeLimit = () => {
    const leftMs = leads ? Math.max(1, renewedMs + RENEW_MS - clock.nowMs()) : REQUEST_MS
    return { timeoutMs: Math.min(REQUEST_MS, leftMs), signal: stopped.signal }
  }

  const write = (
    spec: LeaseSpec,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<ApiAnswer<KubernetesObject>> =>
    seen === undefined
      ? client.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec }, options)
      : client.replace(LEASES, { ...seen.lease, spec }, options)

  const isHeldByOther = ({ holderIdentity = '', leaseDurationSeconds = LEASE_MS / 1000 }: LeaseSpec, changedMs: number): boolean =>
    holderIdentity !== '' && holderIdentity !== identity && clock.nowMs() < changedMs + leaseDurationSeconds * 1000

  const nextSpec = (before: LeaseSpec | undefined): LeaseSpec => {
    const now = microTime(clock.nowMs())
    const ours = before?.holderIdentity === identity
    return {
      holderIdentity: identity,
      leaseDurationSeconds: LEASE_MS / 1000,
      acquireTime: ours ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: before === undefined ? 0 : (before.leaseTransitions ?? 0) + (ours ? 0 : 1),
    }
  }

  const tell = ({ reason, message, advice }: ApiFailure): false => {
    if (!stopped.signal.aborted && lastFailure !== message) log.warn({ reason, advice }, `leader election: ${message}`)
    // In the last moment there is no time for an answer: the failure before says why.
    if (reason !== NO_ANSWER.timeout || lastFailure === '') lastFailure = message
    return false
  }

  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const startMs = clock.nowMs()
      const holds = await tryHold()
      if (stopped.signal.aborted) return
      if (holds && !leads) {
        leads = true
        log.info({ identity }, 'leading')
        deps.onLead?.(true)
        acquired.resolve()
      }
      // Another took it, or we could not renew in time: others may take it any moment.
      if (leads && !holds && (isTaken() || isOverdue())) return lose()
      const jitter = leads ? 0 : RETRY_MS * 0.2 * deps.random()
      const nowMs = clock.nowMs()
      const leftMs = leads ? renewedMs + RENEW_MS - nowMs : Number.POSITIVE_INFINITY
      // A slow answer is part of the time: two that take nearly 5 s each come within the 10 s.
      await clock.sleep(Math.max(1, Math.min(startMs + RETRY_MS + jitter - nowMs, leftMs)), stopped.signal)
    }
  }

  const isOverdue = (): boolean => clock.nowMs() - renewedMs >= RENEW_MS

  const isTaken = (): boolean => seen !== undefined && isHeldByOther(specOf(seen.lease), seen.changedMs)

  const lose = (): void => {
    leads = false
    mayHold = false
    deps.onLead?.(false)
    lost.reject(
      new Error(`leader election: ${identity} no longer leads: ${lastFailure || `the lease ${namespace}/${name} is held by ${holder()}`}`),
    )
  }

  const holder = (): string => (seen === undefined ? '' : (specOf(seen.lease).holderIdentity ?? ''))

  const release = async (): Promise<void> => {
    if (!mayHold) return
    if (leads) deps.onLead?.(false)
    leads = false
    const options = { timeoutMs: REQUEST_MS }
    // A renewal that was cut off may have arrived all the same.
    const got = await client.get(LEASES, { namespace, name }, options)
    if (got.ok && specOf(got.value).holderIdentity !== identity) return
    if (got.ok) remember(got.value)
    const { acquireTime: _acquired, ...spec } = got.ok ? specOf(got.value) : {}
    const released = { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.nowMs()) }
    const answer = got.ok ? await write(released, options) : got
    if (answer.ok) log.info({ identity }, 'gave the lead back')
    else log.warn({ reason: answer.failure.reason }, `could not give the lead back: ${answer.failure.message}`)
  }

  return {
    start: () => {
      running ??= run()
    },
    get leads() {
      return leads
    },
    get surelyLeads() {
      return leads && !isOverdue()
    },
    get holder() {
      return holder()
    },
    acquired: acquired.promise,
    lost: lost.promise,
    async stop() {
      stopped.abort()
      await running
      await release()
    },
  }
}

function specOf(lease: KubernetesObject): LeaseSpec {
  return (lease['spec'] ?? {}) as LeaseSpec
}

/** `MicroTime`: the API server refuses milliseconds there. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

/** A clock that does not jump when the machine's time is set: it starts with it and counts on by itself. */
export function createSteadyClock(clock: Clock): Clock {
  const offsetMs = clock.nowMs() - performance.now()
  return { nowMs: () => Math.round(offsetMs + performance.now()), sleep: clock.sleep }
}
