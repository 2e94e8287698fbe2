/** Scrolls and points in time that are open: how many, for how long, with how much memory and disk. */
import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import { ApiError, illegalArgument, tryLater } from '../api-error.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import type { ResolvedIndex } from '../catalog/resolve.ts'
import type { PointInTime } from '../query/parse/search-request.ts'
import type { FrozenIndex } from '../storage/frozen-index.ts'
import type { Lease, LeasedIndex, LeaseKind, ScrolledSearch } from './lease.ts'

/** As in OpenSearch (`search.max_open_scroll_context`, `search.max_open_pit_context`). */
const MAX_SCROLLS = 500
const MAX_POINTS_IN_TIME = 300
/** Longest time between two requests of one, ms (`search.max_keep_alive`, `point_in_time.max_keep_alive`). */
const MAX_KEEP_ALIVE_MS = 86_400_000
/** Files that all together keep. */
const MAX_LEASED_FILES = 8_192
/** Disk that all together keep from being freed, bytes. Beyond it the oldest ones end. */
const MAX_PINNED_BYTES = 1_073_741_824
/** Memory of all together, bytes: documents of small indices, bodies of scrolls. */
const MAX_LEASED_BYTES = 67_108_864
/** Memory of one beside those, bytes. */
const LEASE_BYTES = 1_000

const KINDS: Readonly<
  Record<
    LeaseKind,
    { readonly sign: string; readonly max: number; readonly what: string; readonly setting: string; readonly keepAlive: string }
  >
> = {
  scroll: { sign: 's', max: MAX_SCROLLS, what: 'scroll', setting: 'search.max_open_scroll_context', keepAlive: 'search.max_keep_alive' },
  pit: {
    sign: 'p',
    max: MAX_POINTS_IN_TIME,
    what: 'Point In Time',
    setting: 'search.max_open_pit_context',
    keepAlive: 'point_in_time.max_keep_alive',
  },
}

interface HeldLease extends Lease {
  readonly dir: string
  readonly memoryBytes: number
  /** Requests of it that are under way: it does not end meanwhile. */
  users: number
  endsAtMs: number
}

export interface LeasesConfig {
  /** For the files that they keep; what lies there is removed. */
  readonly dir: string
  readonly clock: Pick<Clock, 'nowMs'>
  /** Less in tests. */
  readonly maxPinnedBytes?: number
}

export class Leases {
  readonly #dir: string
  readonly #clock: Pick<Clock, 'nowMs'>
  /** By id, in the order in which they were opened. */
  readonly #open = new Map<string, HeldLease>()
  readonly #maxPinnedBytes: number
  #count = 0

  constructor({ dir, clock, maxPinnedBytes = MAX_PINNED_BYTES }: LeasesConfig) {
    this.#maxPinnedBytes = maxPinnedBytes
    this.#dir = dir
    this.#clock = clock
    rmSync(dir, { recursive: true, force: true })
  }

  /** Throws 429 when there are too many, or they hold too much. */
  open(kind: LeaseKind, resolved: readonly ResolvedIndex<CatalogIndex>[], keepAliveMs: number, search?: ScrolledSearch): Lease {
    this.sweep()
    this.#checkCount(kind)
    const dir = join(this.#dir, String(++this.#count))
    const nowMs = this.#clock.nowMs()
    const indices = freezeAll(resolved, dir)
    const lease: HeldLease = {
      id: KINDS[kind].sign + randomBytes(24).toString('base64url'),
      kind,
      createdAtMs: nowMs,
      indices,
      keepAliveMs,
      search,
      cursor: undefined,
      dir,
      memoryBytes: LEASE_BYTES + (search?.body.length ?? 0) + indices.reduce((sum, { storage }) => sum + storage.memoryBytes, 0),
      users: 0,
      endsAtMs: nowMs + keepAliveMs,
    }
    this.#open.set(lease.id, lease)
    try {
      this.#checkSize()
    } catch (error) {
      this.#end(lease)
      throw error
    }
    return lease
  }

  #checkCount(kind: LeaseKind): void {
    const { max, what, setting } = KINDS[kind]
    if (this.list(kind).length < max) return
    throw tryLater(
      'rejected_execution_exception',
      `Trying to create too many ${what} contexts. Must be less than or equal to: [${max}]. This limit can be set by changing the [${setting}] setting.`,
    )
  }

  #checkSize(): void {
    const held = [...this.#open.values()]
    const bytes = held.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)
    if (bytes > MAX_LEASED_BYTES)
      throw tryLater(
        'circuit_breaking_exception',
        `Data too large: scrolls and points in time would hold ${bytes} bytes of memory of ${MAX_LEASED_BYTES}; close some, or read fewer small indices`,
        { bytes_wanted: bytes, bytes_limit: MAX_LEASED_BYTES, durability: 'TRANSIENT' },
      )
    const files = held.reduce((sum, lease) => sum + filesOf(lease).length, 0)
    if (files > MAX_LEASED_FILES)
      throw tryLater(
        'rejected_execution_exception',
        `scrolls and points in time would keep ${files} files of ${MAX_LEASED_FILES}; close some, or name fewer indices`,
      )
  }

  /** Throws 400 for what is no id of the kind, 404 for one that is not open (any more). */
  get(kind: LeaseKind, id: string): Lease {
    return this.#held(kind, id)
  }

  #held(kind: LeaseKind, id: string): HeldLease {
    if (!isId(kind, id))
      throw kind === 'scroll' ? illegalArgument('Cannot parse scroll id') : illegalArgument(`invalid id: [${id.slice(0, 100)}]`)
    const lease = this.#open.get(id)
    if (lease === undefined || (lease.users === 0 && lease.endsAtMs <= this.#clock.nowMs())) throw contextMissing(id)
    return lease
  }

  /** Keeps it open while the work runs; its time counts anew from the end of that. */
  async use<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    const held = this.#held(lease.kind, lease.id)
    held.users++
    try {
      return await work()
    } finally {
      held.users--
      held.endsAtMs = this.#clock.nowMs() + held.keepAliveMs
    }
  }

  /** The indices of a point in time. Throws 400 for a keep-alive beyond the bound. */
  pointInTime({ id, keepAliveMs }: PointInTime): readonly LeasedIndex[] {
    const held = this.#held('pit', id)
    if (keepAliveMs !== undefined) held.keepAliveMs = checkedKeepAlive('pit', keepAliveMs)
    held.endsAtMs = this.#clock.nowMs() + held.keepAliveMs
    return held.indices
  }

  list(kind: LeaseKind): readonly Lease[] {
    this.sweep()
    return [...this.#open.values()].filter(lease => lease.kind === kind)
  }

  /** All indices that they look at. */
  get storages(): readonly FrozenIndex[] {
    return [...this.#open.values()].flatMap(({ indices }) => indices.map(({ storage }) => storage))
  }

  /** False when it was not open. Throws 400 for what is no id. */
  close(kind: LeaseKind, id: string): boolean {
    try {
      this.#end(this.#held(kind, id))
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    }
  }

  #end(lease: HeldLease): void {
    this.#open.delete(lease.id)
    rmSync(lease.dir, { recursive: true, force: true })
  }

  /** Ends those whose time is over; to be called now and then. */
  sweep(): void {
    const nowMs = this.#clock.nowMs()
    for (const lease of this.#open.values()) if (lease.users === 0 && lease.endsAtMs <= nowMs) this.#end(lease)
  }

  /** Ends the oldest ones that keep disk from being freed, while all together keep more than they may; to be called now and then. */
  freeDisk(): void {
    for (;;) {
      const pinned = pinnedFiles([...this.#open.values()])
      if ([...pinned.values()].reduce((sum, bytes) => sum + bytes, 0) <= this.#maxPinnedBytes) return
      this.#end([...this.#open.values()].find(lease => filesOf(lease).some(path => pinned.has(statSync(path).ino)))!)
    }
  }

  /** Ends all. */
  stop(): void {
    for (const lease of this.#open.values()) this.#end(lease)
  }
}

/** Each index at the same moment. */
function freezeAll(resolved: readonly ResolvedIndex<CatalogIndex>[], dir: string): readonly LeasedIndex[] {
  try {
    return resolved.map(({ index, filter }) => ({ storage: index.storage.freeze(join(dir, index.uuid)), filter }))
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ApiError(503, 'search_phase_execution_exception', `the indices could not be kept as they are: ${error.message}`)
  }
}

const filesOf = ({ indices }: Lease): readonly string[] => indices.flatMap(({ storage }) => storage.files)

/** Bytes of the files that have no names but those in leases, by inode. */
function pinnedFiles(leases: readonly Lease[]): ReadonlyMap<number, number> {
  const names = new Map<number, number>()
  const pinned = new Map<number, number>()
  for (const path of leases.flatMap(filesOf)) {
    const { ino, size, nlink } = statSync(path)
    const own = (names.get(ino) ?? 0) + 1
    names.set(ino, own)
    if (own === nlink) pinned.set(ino, size)
  }
  return pinned
}

/** Throws 400 beyond the longest. */
export function checkedKeepAlive(kind: LeaseKind, keepAliveMs: number): number {
  if (keepAliveMs <= MAX_KEEP_ALIVE_MS) return Math.max(0, keepAliveMs)
  throw illegalArgument(
    `Keep alive for request (${showDuration(keepAliveMs)}) is too large. It must be less than (${showDuration(MAX_KEEP_ALIVE_MS)}). ` +
      `This limit can be set by changing the [${KINDS[kind].keepAlive}] cluster level setting.`,
  )
}

/** In its largest unit, rounded down, as OpenSearch shows it. */
function showDuration(ms: number): string {
  return ms >= MAX_KEEP_ALIVE_MS ? `${Math.floor(ms / MAX_KEEP_ALIVE_MS)}d` : `${ms}ms`
}

const isId = (kind: LeaseKind, id: string): boolean => id.startsWith(KINDS[kind].sign) && /^.[\w-]{32}$/.test(id)

function contextMissing(id: string): ApiError {
  const cause = { type: 'search_context_missing_exception', reason: `No search context found for id [${id}]` }
  return new ApiError(404, 'search_phase_execution_exception', 'all shards failed', {
    rootCause: [cause],
    details: { phase: 'query', grouped: true, failed_shards: [{ shard: -1, index: null, reason: cause }] },
    causedBy: cause,
  })
}
