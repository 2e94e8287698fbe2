/** Leader election: of several operators the holder of the Lease (coordination.k8s.io) leads, as with client-go. */

import { type ApiFailure, NO_ANSWER } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import { givenBack, heldBy, isHeldByOther } from './lease.ts'
import { createLeaseRecord } from './lease-record.ts'

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

/** How long a leader tries to renew before it gives up. Others wait longer: `LEASE_MS`. */
export const RENEW_MS = 10_000
/** How often it tries, from the begin of one try to that of the next. */
const RETRY_MS = 2000
const REQUEST_MS = 5000

export function createLeaderElection(config: LeaderElectionConfig, deps: LeaderElectionDeps): LeaderElection {
  const { client, clock, log } = deps
  const { namespace, name, identity } = config
  const record = createLeaseRecord({ namespace, name }, client, clock)
  const stopped = new AbortController()
  const acquired = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  let leads = false
  /** A write of ours may have made us the holder, whether or not its answer came. */
  let mayHold = false
  let renewedMs = 0
  let running: Promise<void> | undefined
  let lastFailure = ''

  /** Takes or renews the Lease; false when that did not work. */
  const tryHold = async (): Promise<boolean> => {
    // A leader knows the Lease from its own last write and need not ask for it again.
    const isKnown = leads && record.seen !== undefined
    const unread = isKnown ? undefined : await record.read(timeLimit())
    if (unread !== undefined && unread.status !== 404) return tell(unread)
    if (isTaken()) return false
    mayHold = true
    const startMs = clock.nowMs()
    const unwritten = await record.write(heldBy(identity, record.spec, startMs), timeLimit())
    if (unwritten !== undefined) {
      // Another's, or deleted, or a renewal that was given up arrived all the same.
      const isOther = unwritten.status === 409 || unwritten.status === 404
      if (isOther) record.forget()
      return isOther && isKnown && !isOverdue() ? tryHold() : tell(unwritten)
    }
    renewedMs = startMs
    lastFailure = ''
    return true
  }

  const timeLimit = () => {
    const leftMs = leads ? Math.max(1, renewedMs + RENEW_MS - clock.nowMs()) : REQUEST_MS
    return { timeoutMs: Math.min(REQUEST_MS, leftMs), signal: stopped.signal }
  }

  const isOverdue = (): boolean => clock.nowMs() - renewedMs >= RENEW_MS

  const isTaken = (): boolean => record.seen !== undefined && isHeldByOther(record.seen, identity, clock.nowMs())

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
      if (holds && !leads) lead()
      // Another took it, or we could not renew in time: others may take it any moment.
      if (leads && !holds && (isTaken() || isOverdue())) return lose()
      await clock.sleep(pauseMs(startMs), stopped.signal)
    }
  }

  /** A slow answer is part of the time: two that take nearly 5 s each come within the 10 s. */
  const pauseMs = (startMs: number): number => {
    const jitter = leads ? 0 : RETRY_MS * 0.2 * deps.random()
    const nowMs = clock.nowMs()
    const leftMs = leads ? renewedMs + RENEW_MS - nowMs : Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(startMs + RETRY_MS + jitter - nowMs, leftMs))
  }

  const lead = (): void => {
    leads = true
    log.info({ identity }, 'leading')
    deps.onLead?.(true)
    acquired.resolve()
  }

  const lose = (): void => {
    leads = false
    mayHold = false
    deps.onLead?.(false)
    const why = lastFailure || `the lease ${namespace}/${name} is held by ${holder()}`
    lost.reject(new Error(`leader election: ${identity} no longer leads: ${why}`))
  }

  const holder = (): string => record.spec?.holderIdentity ?? ''

  const release = async (): Promise<void> => {
    if (!mayHold) return
    if (leads) deps.onLead?.(false)
    leads = false
    const options = { timeoutMs: REQUEST_MS }
    // A renewal that was cut off may have arrived all the same.
    const unread = await record.read(options)
    if (unread === undefined && holder() !== identity) return
    const failure = unread ?? (await record.write(givenBack(record.spec ?? {}, clock.nowMs()), options))
    if (failure === undefined) log.info({ identity }, 'gave the lead back')
    else log.warn({ reason: failure.reason }, `could not give the lead back: ${failure.message}`)
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
