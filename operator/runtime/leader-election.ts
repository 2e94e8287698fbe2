/** Leader election: of several operators the holder of the Lease (coordination.k8s.io) leads, as with client-go. */

import { type ApiFailure, NO_ANSWER } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import { givenBack, heldBy, isHeldByOther } from './lease.ts'
import { createLeaseRecord, type LeaseRecord } from './lease-record.ts'

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
  return new Election(config, deps)
}

class Election implements LeaderElection {
  readonly #config: LeaderElectionConfig
  readonly #deps: LeaderElectionDeps
  readonly #record: LeaseRecord
  readonly #stopped = new AbortController()
  readonly #acquired = Promise.withResolvers<void>()
  readonly #lost = Promise.withResolvers<never>()
  #leads = false
  /** A write of ours may have made us the holder, whether or not its answer came. */
  #mayHold = false
  #renewedMs = 0
  #running: Promise<void> | undefined
  #lastFailure = ''

  constructor(config: LeaderElectionConfig, deps: LeaderElectionDeps) {
    this.#config = config
    this.#deps = deps
    this.#record = createLeaseRecord(config, deps.client, deps.clock)
    this.#lost.promise.catch(() => {})
  }

  start(): void {
    this.#running ??= this.#run()
  }

  get leads(): boolean {
    return this.#leads
  }

  get surelyLeads(): boolean {
    return this.#leads && !this.#isOverdue()
  }

  get holder(): string {
    return this.#record.spec?.holderIdentity ?? ''
  }

  get acquired(): Promise<void> {
    return this.#acquired.promise
  }

  get lost(): Promise<never> {
    return this.#lost.promise
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
    await this.#release()
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const startMs = clock.nowMs()
      const holds = await this.#tryHold()
      if (signal.aborted) return
      if (holds && !this.#leads) this.#lead()
      // Another took it, or we could not renew in time: others may take it any moment.
      if (this.#leads && !holds && (this.#isTaken() || this.#isOverdue())) return this.#lose()
      await clock.sleep(this.#pauseMs(startMs), signal)
    }
  }

  /** Takes or renews the Lease; false when that did not work. */
  async #tryHold(): Promise<boolean> {
    // A leader knows the Lease from its own last write and need not ask for it again.
    const isKnown = this.#leads && this.#record.seen !== undefined
    const unread = isKnown ? undefined : await this.#record.read(this.#timeLimit())
    if (unread !== undefined && unread.status !== 404) return this.#tell(unread)
    if (this.#isTaken()) return false
    this.#mayHold = true
    const startMs = this.#deps.clock.nowMs()
    const unwritten = await this.#record.write(heldBy(this.#config.identity, this.#record.spec, startMs), this.#timeLimit())
    if (unwritten !== undefined) {
      // Another's, or deleted, or a renewal that was given up arrived all the same.
      const isOther = unwritten.status === 409 || unwritten.status === 404
      if (isOther) this.#record.forget()
      return isOther && isKnown && !this.#isOverdue() ? this.#tryHold() : this.#tell(unwritten)
    }
    this.#renewedMs = startMs
    this.#lastFailure = ''
    return true
  }

  #timeLimit() {
    const leftMs = this.#leads ? Math.max(1, this.#leftMs()) : REQUEST_MS
    return { timeoutMs: Math.min(REQUEST_MS, leftMs), signal: this.#stopped.signal }
  }

  /** The time that a leader has to renew. */
  #leftMs(): number {
    return this.#renewedMs + RENEW_MS - this.#deps.clock.nowMs()
  }

  #isOverdue(): boolean {
    return this.#leftMs() <= 0
  }

  #isTaken(): boolean {
    const { seen } = this.#record
    return seen !== undefined && isHeldByOther(seen, this.#config.identity, this.#deps.clock.nowMs())
  }

  /** A slow answer is part of the time: two that take nearly 5 s each come within the 10 s. */
  #pauseMs(startMs: number): number {
    const jitter = this.#leads ? 0 : RETRY_MS * 0.2 * this.#deps.random()
    const untilNextMs = startMs + RETRY_MS + jitter - this.#deps.clock.nowMs()
    return Math.max(1, this.#leads ? Math.min(untilNextMs, this.#leftMs()) : untilNextMs)
  }

  #tell({ reason, message, advice }: ApiFailure): false {
    if (!this.#stopped.signal.aborted && this.#lastFailure !== message)
      this.#deps.log.warn({ reason, advice }, `leader election: ${message}`)
    // In the last moment there is no time for an answer: the failure before says why.
    if (reason !== NO_ANSWER.timeout || this.#lastFailure === '') this.#lastFailure = message
    return false
  }

  #lead(): void {
    this.#leads = true
    this.#deps.log.info({ identity: this.#config.identity }, 'leading')
    this.#deps.onLead?.(true)
    this.#acquired.resolve()
  }

  #lose(): void {
    const { namespace, name, identity } = this.#config
    this.#leads = false
    this.#mayHold = false
    this.#deps.onLead?.(false)
    const why = this.#lastFailure || `the lease ${namespace}/${name} is held by ${this.holder}`
    this.#lost.reject(new Error(`leader election: ${identity} no longer leads: ${why}`))
  }

  async #release(): Promise<void> {
    if (!this.#mayHold) return
    const { clock, log, onLead } = this.#deps
    const { identity } = this.#config
    if (this.#leads) onLead?.(false)
    this.#leads = false
    const options = { timeoutMs: REQUEST_MS }
    // A renewal that was cut off may have arrived all the same.
    const unread = await this.#record.read(options)
    if (unread === undefined && this.holder !== identity) return
    const failure = unread ?? (await this.#record.write(givenBack(this.#record.spec ?? {}, clock.nowMs()), options))
    if (failure === undefined) log.info({ identity }, 'gave the lead back')
    else log.warn({ reason: failure.reason }, `could not give the lead back: ${failure.message}`)
  }
}
