/** Keeps a query process up to date with what is committed. */
import type { FeedMessage, IndexFeed } from '../storage/index-feed.ts'
import type { QueryProcess } from './query-process.ts'

/** How long after a query the process goes on with what is committed, ms: who has asked asks again, and the next answer need not wait for all of it. */
const FOLLOW_MS = 10_000

/** An index, as it is or as it was. */
export interface Fed {
  feed(): IndexFeed
}

interface Told {
  readonly handle: number
  readonly feed: IndexFeed
  /** When a query of a user last asked for it. */
  askedMs: number
  /** Set while it is being told. */
  telling: Promise<void> | undefined
}

/** The state of the indices that one query process knows. */
export class Feeds {
  readonly #process: QueryProcess
  readonly #told = new Map<Fed, Told>()
  readonly #byHandle = new Map<number, Told>()
  #lastHandle = 0

  constructor(process: QueryProcess) {
    this.#process = process
  }

  /** The handle of the index. Once the promise has resolved, or where there is none, the process knows what is committed. */
  bringUp(storage: Fed, isBackground = false): { readonly handle: number; readonly telling: Promise<void> | undefined } {
    const told = this.#told.get(storage) ?? this.#open(storage)
    if (!isBackground) told.askedMs = performance.now()
    if (told.telling !== undefined)
      return { handle: told.handle, telling: told.telling.then(() => this.bringUp(storage, isBackground).telling) }
    const telling = this.#tell(told)
    if (telling !== undefined)
      told.telling = telling.finally(() => {
        told.telling = undefined
      })
    return { handle: told.handle, telling: told.telling }
  }

  #open(storage: Fed): Told {
    const told: Told = { handle: ++this.#lastHandle, feed: storage.feed(), askedMs: Number.NEGATIVE_INFINITY, telling: undefined }
    this.#told.set(storage, told)
    this.#byHandle.set(told.handle, told)
    return told
  }

  /** Sends at once as long as the link takes messages; a promise stands for the rest. */
  #tell({ handle, feed }: Told): Promise<void> | undefined {
    const messages = feed.next()[Symbol.iterator]()
    for (let each = messages.next(); each.done !== true; each = messages.next()) {
      const isFree = this.#process.send({ kind: 'told', handle, head: each.value.head }, each.value.bytes)
      if (!isFree) return this.#tellOn(handle, messages)
    }
    return undefined
  }

  async #tellOn(handle: number, messages: Iterator<FeedMessage>): Promise<void> {
    for (;;) {
      await this.#process.drained()
      const each = messages.next()
      if (each.done === true) return
      this.#process.send({ kind: 'told', handle, head: each.value.head }, each.value.bytes)
    }
  }

  /** Lets the process make itself ready for queries on those that are log indices, the newest first. */
  async warmUp(storages: readonly Fed[]): Promise<void> {
    const handles: number[] = []
    for (const storage of storages) {
      if ((this.#told.get(storage) ?? this.#open(storage)).feed.isOfLog !== true) continue
      const { handle, telling } = this.bringUp(storage, true)
      if (telling !== undefined) await telling
      handles.push(handle)
    }
    if (handles.length > 0) this.#process.send({ kind: 'warmUp', handles })
  }

  /** Whether log indices were asked for lately. */
  get hasFollowed(): boolean {
    return [...this.#told.values()].some(isFollowed)
  }

  /** Lets the process take over what was committed in log indices that were asked for lately, before the next query does. */
  follow(): void {
    for (const told of this.#told.values()) {
      if (!isFollowed(told) || told.telling !== undefined) continue
      const { handle, feed } = told
      const news = [...feed.next()]
      for (const { head, bytes } of news) this.#process.send({ kind: 'told', handle, head }, bytes)
      if (news.length > 0) this.#process.send({ kind: 'follow', handle })
    }
  }

  /** The process could not use its last messages about the index. */
  reset(handle: number): void {
    this.#byHandle.get(handle)?.feed.reset()
  }

  /** Lets the process forget indices that are no longer there. */
  forgetOthers(there: readonly Fed[]): void {
    if (this.#told.size === 0) return
    const storages = new Set(there)
    for (const [storage, { handle, feed }] of this.#told) {
      if (storages.has(storage)) continue
      feed.close()
      this.#told.delete(storage)
      this.#byHandle.delete(handle)
      this.#process.send({ kind: 'forget', handle })
    }
  }

  close(): void {
    for (const { feed } of this.#told.values()) feed.close()
    this.#told.clear()
  }
}

const isFollowed = ({ feed, askedMs }: Told): boolean => feed.isOfLog === true && performance.now() - askedMs < FOLLOW_MS
