/** The memory of requests under way: bounded over all of them, over those of one owner, and over those that are still coming. */
import { largestSource } from './largest-source.ts'

/** Share of the memory that one owner may hold, so that requests of one leave room to the others. */
const OWNER_SHARE = 0.75
/** Share of the memory, all or of one owner, for bodies that are still coming: slow ones leave room to whole requests. */
const COMING_SHARE = 0.75
/**
 * A body that is still coming is slow once its bytes have been held for so long on average, ms. One that comes evenly is never slow before twice this
 * time: 1.2 MB at 1 Mbit/s is not.
 */
const SLOW_AFTER_MS = 5_000
/**
 * The same where others come from an address that has much less of the memory: callers who come again at once would have all of it, however often
 * their bodies are given up. Bodies that come at the usual speed are whole by then.
 */
const SLOW_OF_MANY_AFTER_MS = 500
export interface BodyErrors {
  /** `whose`: a part of a sentence, such as ` of acme`; empty for all requests. */
  full(whose: string, usedBytes: number, limitBytes: number): Error
  /** Others need the memory of a body that comes too slowly. */
  slow(): Error
}

/** Bounds the bytes of requests held at once. */
export class BodyMemory {
  readonly #errors: BodyErrors
  readonly #all: Share
  readonly #owned = new Map<string, Share>()
  readonly #coming = new Set<BodyLease>()
  readonly nowMs: () => number

  /** `nowMs` goes on evenly when the time of day is set. */
  constructor(limitBytes: number, errors: BodyErrors, nowMs: () => number = () => performance.now()) {
    this.#errors = errors
    this.#all = new Share('', limitBytes)
    this.nowMs = nowMs
  }

  get usedBytes(): number {
    return this.#all.usedBytes
  }

  /** `owner`: whose request it is, such as a tenant. `source`: where it comes from, such as an address; absent: nothing is known of that. */
  lease(owner?: string, source?: string): BodyLease {
    return new BodyLease(this, owner, source)
  }

  /** Throws where there is no room. `isPartial`: more of the body has to come. */
  take(bytes: number, lease: BodyLease, isPartial: boolean): void {
    this.#makeRoom(this.#all, bytes, lease, isPartial)
    if (lease.owner !== undefined) this.#makeRoom(this.#shareOf(lease.owner), bytes, lease, isPartial)
    this.#count(lease, bytes, lease.isComing ? bytes : 0)
  }

  give(bytes: number, lease: BodyLease): void {
    this.#count(lease, -bytes, lease.isComing ? -bytes : 0)
  }

  begin(lease: BodyLease): void {
    this.#coming.add(lease)
    this.#count(lease, 0, lease.heldBytes)
  }

  end(lease: BodyLease): void {
    this.#coming.delete(lease)
    this.#count(lease, 0, -lease.heldBytes)
  }

  /** Slow bodies are given up for what comes; those of the owner alone where the owner's share is full. */
  #makeRoom(share: Share, bytes: number, lease: BodyLease, isPartial: boolean): void {
    for (;;) {
      const full = share.limitThatHolds(bytes, lease.heldBytes, isPartial)
      if (full === undefined) return
      const slowest = this.#slowest(each => share === this.#all || each.owner === lease.owner, SLOW_AFTER_MS)
      const givenUp = slowest === undefined || slowest === lease ? this.#ofLargestSource(share, bytes, lease) : slowest
      if (givenUp === undefined) throw this.#errors.full(share.whose, full.usedBytes, full.limitBytes)
      givenUp.giveUp(this.#errors.slow())
    }
  }

  /** The slow body that costs most, by its bytes and how long they have been held. */
  #slowest(counts: (lease: BodyLease) => boolean, afterMs: number): BodyLease | undefined {
    const now = this.nowMs()
    let found: BodyLease | undefined
    let most = 0
    for (const lease of this.#coming) {
      const cost = lease.costAt(now)
      if (cost <= most || cost < afterMs * lease.heldBytes || !counts(lease)) continue
      most = cost
      found = lease
    }
    return found
  }

  /** A slow body of the source that has most of the memory, where that of the lease has much less. */
  #ofLargestSource(share: Share, bytes: number, { source }: BodyLease): BodyLease | undefined {
    const largest = share === this.#all ? largestSource(this.#coming, source, bytes) : undefined
    return largest === undefined ? undefined : this.#slowest(each => each.source === largest, SLOW_OF_MANY_AFTER_MS)
  }

  #shareOf(owner: string): Share {
    const share = this.#owned.get(owner) ?? new Share(` of ${owner}`, OWNER_SHARE * this.#all.limitBytes)
    this.#owned.set(owner, share)
    return share
  }

  #count({ owner }: BodyLease, bytes: number, comingBytes: number): void {
    this.#all.usedBytes += bytes
    this.#all.comingBytes += comingBytes
    if (owner === undefined) return
    const share = this.#shareOf(owner)
    share.usedBytes += bytes
    share.comingBytes += comingBytes
    if (share.usedBytes <= 0) this.#owned.delete(owner)
  }
}

/** Memory that all requests, or those of one owner, may hold. */
class Share {
  readonly whose: string
  readonly limitBytes: number
  usedBytes = 0
  /** Those of requests that are still coming. */
  comingBytes = 0

  constructor(whose: string, limitBytes: number) {
    this.whose = whose
    this.limitBytes = limitBytes
  }

  /** The limit that `bytes` more would break. `heldBytes`: of the asking request, which alone gets what it needs, or it could never be served. */
  limitThatHolds(
    bytes: number,
    heldBytes: number,
    isPartial: boolean,
  ): { readonly usedBytes: number; readonly limitBytes: number } | undefined {
    const { whose: _, limitBytes, usedBytes, comingBytes } = this
    if (usedBytes + bytes > limitBytes && usedBytes > heldBytes) return { usedBytes, limitBytes }
    const comingLimit = COMING_SHARE * limitBytes
    if (!isPartial || comingBytes + bytes <= comingLimit || comingBytes <= heldBytes) return undefined
    return { usedBytes: comingBytes, limitBytes: comingLimit }
  }
}

/** The memory that one request holds. */
export class BodyLease {
  readonly #memory: BodyMemory
  readonly owner: string | undefined
  readonly source: string | undefined
  heldBytes = 0
  /** The sum of the held bytes, each times the time since which it is held. */
  #byteTimes = 0
  #onGivenUp: ((error: Error) => void) | undefined
  #givenUp: Error | undefined

  constructor(memory: BodyMemory, owner: string | undefined, source: string | undefined) {
    this.#memory = memory
    this.owner = owner
    this.source = source
  }

  get isComing(): boolean {
    return this.#onGivenUp !== undefined
  }

  /** The body begins to come. `onGivenUp` is called, once at most, when it is slow and others need its memory, which is given back by then. */
  begin(onGivenUp: (error: Error) => void): void {
    if (this.#givenUp !== undefined || this.isComing) return
    this.#onGivenUp = onGivenUp
    this.#memory.begin(this)
  }

  /** The body is whole. */
  end(): void {
    if (!this.isComing) return
    this.#memory.end(this)
    this.#onGivenUp = undefined
  }

  /** So many bytes more are held. `isLast`: nothing of the body is missing with them. Throws where there is no room. */
  grow(bytes: number, isLast = false): void {
    if (this.#givenUp !== undefined) throw this.#givenUp
    this.#memory.take(bytes, this, this.isComing && !isLast)
    this.heldBytes += bytes
    if (this.isComing) this.#byteTimes += bytes * this.#memory.nowMs()
  }

  shrink(bytes: number): void {
    this.#memory.give(bytes, this)
    this.heldBytes -= bytes
  }

  release(): void {
    this.end()
    this.shrink(this.heldBytes)
  }

  giveUp(error: Error): void {
    const tell = this.#onGivenUp
    this.release()
    this.#givenUp = error
    tell?.(error)
  }

  /** Byte milliseconds. */
  costAt(nowMs: number): number {
    return this.heldBytes * nowMs - this.#byteTimes
  }
}
