/** Keeps a store in step with the API server: lists in pages, then watches, and begins again after every failure. */

import { backOffMs } from '../../limits/back-off.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { type ApiAnswer, type ApiFailure, isExpired } from '../api-failure.ts'
import type { KubeClient, Selection } from '../kube-client.ts'
import type { KubernetesObject } from '../object.ts'
import { keyOf, qualifiedName, type Resource } from '../resource.ts'
import { missingFields } from './missing-fields.ts'
import { isNewer, type ObjectStore } from './object-store.ts'

export interface ReflectorConfig {
  readonly resource: Resource
  readonly selection?: Selection
  /** Cuts an object down to the fields that are kept; default: all. */
  readonly slim?: (object: KubernetesObject) => KubernetesObject
  /** An object that a watch sends without a field that somebody set is not taken in: all is listed again. */
  readonly isWhole?: boolean
}

export interface ReflectorDeps {
  readonly client: Pick<KubeClient, 'list' | 'watch'>
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  /** Counts a watch that had to begin anew, by what ended it. */
  readonly onRestart?: (reason: string) => void
}

/** `absent`: the API server does not know the kind. */
export type ReflectorState = 'listing' | 'watching' | 'failing' | 'absent'

const PAGE_SIZE = 500
const BACK_OFF = { firstMs: 800, maxMs: 30_000 }
/** The API server sends a bookmark about once a minute (60 to 63 s); a watch that is silent for longer than this counts as dead, even on an open socket. */
const IDLE_MS = 75_000
/** The server ends each watch after a time between this and twice this, as kubectl and client-go ask for. */
const WATCH_SECONDS = 300
/** A watch that ends this much before its time was ended by something else: the API server may have been started anew. */
const EARLY_MS = 5000
/** A watch that lasted this long was a good one: the back-off begins again. */
const GOOD_WATCH_MS = 5000
/** A server that ends watches at once is not asked again at once. */
const SHORT_WATCH_MS = 1000

export class Reflector {
  readonly #config: ReflectorConfig
  readonly #deps: ReflectorDeps
  readonly #store: ObjectStore
  readonly #log: Log
  readonly #stopped = new AbortController()
  readonly #firstList = Promise.withResolvers<void>()
  readonly #refusal = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #state: ReflectorState = 'listing'
  #failure: ApiFailure | undefined
  #failingSinceMs: number | undefined
  #failures = 0
  #hasSynced = false
  /** The 410s of paged lists in a row: the second time all comes in one page, which cannot expire. */
  #expiredLists = 0
  /** The watch did not end as it should have: the API server may have been set back to an older state since. */
  #isInDoubt = false
  /** The watches in a row that were silent. */
  #silentWatches = 0
  /** By key, the fields that an object lacked when it was listed: no watch has them. */
  readonly #lacking = new Map<string, string>()

  constructor(config: ReflectorConfig, store: ObjectStore, deps: ReflectorDeps) {
    this.#config = config
    this.#deps = deps
    this.#store = store
    this.#log = deps.log.child({ resource: qualifiedName(config.resource) })
  }

  get resource(): Resource {
    return this.#config.resource
  }

  get state(): ReflectorState {
    return this.#state
  }

  /** The last failure, while the API server does not let us list or watch. */
  get failure(): ApiFailure | undefined {
    return this.#failure
  }

  /** Since when the API server has not let us list or watch, ms since the epoch. The store's contents are of that time. */
  get failingSinceMs(): number | undefined {
    return this.#failingSinceMs
  }

  /** Whether the store has held everything once. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Resolves with the first full list. */
  get synced(): Promise<void> {
    return this.#firstList.promise
  }

  /** Resolves when a list is refused before there was a full one: the right to it may be missing for long. */
  get refused(): Promise<void> {
    return this.#refusal.promise
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    let version: string | undefined
    while (!this.#isStopped) {
      try {
        if (version !== undefined && this.#isInDoubt && (await this.#isSetBack(version))) version = undefined
        if (version === undefined) version = await this.#list()
        if (version !== undefined && !this.#isStopped) version = await this.#watch(version)
      } catch (error) {
        this.#log.error({ error }, 'what the API server sent could not be taken in: listing again')
        version = undefined
        await this.#pause()
      }
    }
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  /** Lists everything. Resolves with the version to watch from; with undefined after a failure, once the pause is over. */
  async #list(): Promise<string | undefined> {
    if (this.#state === 'watching') this.#state = 'listing'
    this.#store.beginList()
    this.#lacking.clear()
    const answer = await this.#listPages()
    if (this.#isStopped) return undefined
    if (!answer.ok) {
      this.#expiredLists = isExpired(answer.failure) ? this.#expiredLists + 1 : 0
      await this.#waitAfter(answer.failure)
      return undefined
    }
    this.#expiredLists = 0
    this.#isInDoubt = false
    this.#store.replace(answer.value.items, answer.value.resourceVersion)
    this.#markSynced()
    return answer.value.resourceVersion
  }

  /** Whether the API server's version is older than one that it told before: it would report no changes until its versions have caught up. */
  async #isSetBack(version: string): Promise<boolean> {
    const { resource, selection } = this.#config
    const page = { ...selection, metadataOnly: true, limit: 1 }
    const answer = await this.#deps.client.list(resource, page, { signal: this.#stopped.signal })
    if (!answer.ok) return false
    this.#isInDoubt = false
    if (!isNewer(version, answer.value.resourceVersion)) return false
    this.#log.warn({ version, seen: answer.value.resourceVersion }, 'the API server was set back to an older state: listing again')
    this.#deps.onRestart?.('SetBack')
    return true
  }

  async #listPages(): Promise<ApiAnswer<{ readonly items: readonly KubernetesObject[]; readonly resourceVersion: string }>> {
    const { resource, selection, slim = asIs } = this.#config
    const limit = this.#expiredLists < 2 ? { limit: PAGE_SIZE } : {}
    const items: KubernetesObject[] = []
    let next: string | undefined
    for (;;) {
      const page = { ...selection, ...limit, ...(next !== undefined && { continue: next }) }
      const answer = await this.#deps.client.list(resource, page, { signal: this.#stopped.signal })
      if (!answer.ok) return answer
      for (const item of answer.value.items) {
        this.#noteLacking(item)
        items.push(slim(item))
      }
      next = answer.value.continue
      if (next === undefined) return { ok: true, value: { items, resourceVersion: answer.value.resourceVersion } }
    }
  }

  /** Watches from a version. Resolves with the version to go on from; undefined: everything has to be listed again. */
  async #watch(from: string): Promise<string | undefined> {
    const { resource, selection } = this.#config
    const { client, clock, random } = this.#deps
    const idle = watchIdle(clock, this.#stopped.signal)
    const startMs = monotonicMs(clock)
    const reached = { version: from, isOutdated: false }
    try {
      const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + random()))
      const answer = await client.watch(resource, { ...selection, resourceVersion: from, timeoutSeconds, signal: idle.signal })
      if (!answer.ok) return await this.#afterWatch(answer.failure, reached.version, 0)
      this.#recovered()
      const failure = await this.#readEvents(answer.value, reached, idle.seen)
      if (this.#isStopped) return undefined
      const lastedMs = monotonicMs(clock) - startMs
      if (lastedMs >= GOOD_WATCH_MS) this.#failures = 0
      if (idle.expired) {
        // Where nothing happens and no bookmarks come, every watch is silent.
        this.#isInDoubt = ++this.#silentWatches === 1
        this.#log.warn({ idleMs: IDLE_MS }, 'a silent watch was cut')
        this.#deps.onRestart?.('silent')
        return reached.version
      }
      if (reached.isOutdated) return await this.#listAgain('Outdated', 'the watch leaves out fields: listing again', lastedMs)
      if (failure !== undefined) return await this.#afterWatch(failure, reached.version, lastedMs)
      this.#isInDoubt = lastedMs < timeoutSeconds * 1000 - EARLY_MS
      if (lastedMs < SHORT_WATCH_MS) await this.#pause()
      return reached.version
    } finally {
      idle.stop()
    }
  }

  /** The error that ended the stream, if there was one. */
  async #readEvents(
    events: Parameters<typeof readAll>[0],
    reached: { version: string; isOutdated: boolean },
    seen: () => void,
  ): Promise<ApiFailure | undefined> {
    const { slim = asIs } = this.#config
    return readAll(events, event => {
      seen()
      this.#silentWatches = 0
      if (event.type === 'BOOKMARK') reached.version = event.resourceVersion
      else {
        reached.isOutdated = event.type !== 'DELETED' && this.#isCut(event.object)
        if (reached.isOutdated) return false
        reached.version = event.object.metadata.resourceVersion ?? reached.version
        if (event.type === 'DELETED') this.#store.remove(keyOf(event.object.metadata), event.object.metadata.uid)
        else this.#store.put(slim(event.object))
      }
      return true
    })
  }

  #noteLacking(object: KubernetesObject): void {
    const missing = this.#config.isWhole === true ? missingFields(object) : ''
    if (missing !== '') this.#lacking.set(keyOf(object.metadata), missing)
  }

  /** Whether the watch leaves out fields of the object that a list would have. */
  #isCut(object: KubernetesObject): boolean {
    const missing = this.#config.isWhole === true ? missingFields(object) : ''
    return missing !== '' && missing !== this.#lacking.get(keyOf(object.metadata))
  }

  async #listAgain(reason: string, message: string, lastedMs: number): Promise<undefined> {
    this.#deps.onRestart?.(reason)
    this.#log.info({}, message)
    if (lastedMs < SHORT_WATCH_MS) await this.#pause()
  }

  async #afterWatch(failure: ApiFailure, version: string, lastedMs: number): Promise<string | undefined> {
    if (this.#isStopped) return undefined
    if (isExpired(failure)) return this.#listAgain(failure.reason, 'the watch is too far behind: listing again', lastedMs)
    this.#deps.onRestart?.(failure.reason)
    this.#isInDoubt = true
    await this.#waitAfter(failure)
    // A kind that went away, or that we may no longer see, is listed anew when it is back.
    return failure.status === 404 || failure.status === 403 || failure.status === 400 ? undefined : version
  }

  async #waitAfter(failure: ApiFailure): Promise<void> {
    const absent = failure.status === 404
    if (absent) this.#store.clear()
    if (failure.status === 403 && !this.#hasSynced) this.#refusal.resolve()
    const next: ReflectorState = absent ? 'absent' : 'failing'
    if (this.#state !== next || this.#failure?.reason !== failure.reason)
      this.#log.warn({ reason: failure.reason, advice: failure.advice }, `watching stands still: ${failure.message}`)
    this.#state = next
    this.#failure = failure
    this.#failingSinceMs ??= this.#deps.clock.nowMs()
    await this.#pause(failure.retryAfterMs)
  }

  /** At least as long as the API server asks for, up to the longest pause. */
  async #pause(leastMs = 0): Promise<void> {
    this.#failures += 1
    const pauseMs = Math.max(backOffMs(BACK_OFF, this.#failures, this.#deps.random), Math.min(leastMs, BACK_OFF.maxMs))
    await this.#deps.clock.sleep(pauseMs, this.#stopped.signal)
  }

  #recovered(): void {
    if (this.#failure !== undefined) this.#log.info({}, 'watching again')
    this.#failure = undefined
    this.#failingSinceMs = undefined
    this.#state = 'watching'
  }

  #markSynced(): void {
    this.#hasSynced = true
    this.#firstList.resolve()
  }
}

type Events = Awaited<ReturnType<KubeClient['watch']>> extends ApiAnswer<infer E> ? E : never
type SoundEvent = Exclude<Events extends AsyncIterable<infer E> ? E : never, { readonly type: 'ERROR' }>

/** Up to the event that `take` refuses. */
async function readAll(events: Events, take: (event: SoundEvent) => boolean): Promise<ApiFailure | undefined> {
  for await (const event of events) {
    if (event.type === 'ERROR') return event.failure
    if (!take(event)) break
  }
  return undefined
}

function asIs(object: KubernetesObject): KubernetesObject {
  return object
}

/** Aborts its signal when nothing was seen for `IDLE_MS`, or when the other signal does. */
function watchIdle(clock: Clock, stopped: AbortSignal) {
  const cut = new AbortController()
  const ended = new AbortController()
  let lastMs = monotonicMs(clock)
  let expired = false
  const abort = () => cut.abort()
  if (stopped.aborted) abort()
  stopped.addEventListener('abort', abort)
  const run = async () => {
    while (!ended.signal.aborted) {
      const leftMs = lastMs + IDLE_MS - monotonicMs(clock)
      if (leftMs <= 0) {
        expired = true
        return abort()
      }
      await clock.sleep(leftMs, ended.signal)
    }
  }
  void run()
  return {
    signal: cut.signal,
    get expired() {
      return expired
    },
    seen: () => {
      lastMs = monotonicMs(clock)
    },
    stop: () => {
      ended.abort()
      stopped.removeEventListener('abort', abort)
    },
  }
}
