/** Writes documents in bulk until the store has taken or refused each of them. */
import { backOffMs } from '../../limits/back-off.ts'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { Clock } from '../../ports/clock.ts'
import { type BulkOperation, type BulkOutcome, type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type BulkSize, createBulkSize } from './bulk-size.ts'
import type { IndexOutages } from './index-outages.ts'

export interface BulkResult {
  /** Documents that were not there before. */
  readonly created: number
  /** Refusals and failed attempts, each time an item had one. A request that was sent again at once is one attempt. */
  readonly errors: number
  /** Each operation was made as it is, by the only request with it. */
  readonly isMadeAtOnce: boolean
  /** Operations, by their position, that the store will take in no form, with its reason. */
  readonly refused: readonly RefusedItem[]
}

export interface RefusedItem {
  readonly item: number
  readonly reason: string
  /** The document's index does not exist, and the store makes no further index. */
  readonly hasNoRoom: boolean
}

export interface BulkWriterDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The form to try when the store refuses an operation as it is, or in the form before, and why it does. */
  readonly fold?: (operation: BulkOperation, reason: string) => BulkOperation
  /** An operation whose index the store will not make, having reached its limit, is refused; default: it waits until there is room. */
  readonly refusesWithoutRoom?: boolean
  /** An operation whose index alone takes nothing for a while is refused; default: it waits. */
  readonly outages?: IndexOutages
  /** Without any progress, one after the other, before the write is given up. Default: about a minute of them. */
  readonly maxAttempts?: number
  /** Remembered from one write to the next. */
  readonly size?: BulkSize
  /** Documents counted lately though another operation may have made them, remembered from one write to the next. */
  readonly counted?: RecentIds
  /** Called with the outcome of each request, also of a write that is given up later. */
  readonly onProgress?: (progress: { readonly created: number; readonly errors: number }) => void
}

const PAUSE = { firstMs: 50, maxMs: 5_000 }
/** About a minute; after it the caller starts over with back-off of its own. */
const MAX_ATTEMPTS = 18

/** A write was given up because the store settled nothing for a while. */
export class BulkUnfinished extends SearchStoreUnavailable {
  /** Indices of the operations that are not settled. */
  readonly indices: ReadonlySet<string>
  constructor(message: string, indices: ReadonlySet<string>) {
    super(message)
    this.name = 'BulkUnfinished'
    this.indices = indices
  }
}

/** The ends of operations in a request that was made already; `unanswered`: nobody knows them. */
export type FirstOutcomes = readonly BulkOutcome[] | 'unanswered'

/**
 * Writes every document, retrying what the store cannot take now and folding what it refuses; rejects with `BulkUnfinished` when the store stays away.
 * With `first`, all of them were in one request already.
 */
export async function writeBulk(operations: readonly BulkOperation[], deps: BulkWriterDeps, first?: FirstOutcomes): Promise<BulkResult> {
  const { clock, signal, size = createBulkSize(), maxAttempts = MAX_ATTEMPTS } = deps
  const write = new Write(operations, deps, first)
  let pauses = 0
  for (let attempt = 0; write.pending > 0; ) {
    if (attempt >= maxAttempts || (signal.aborted && !write.isAnswered))
      throw new BulkUnfinished(
        `${write.pending} documents not written: ${write.lastReason || 'the work was stopped before'}`,
        write.pendingIndices,
      )
    const { settled, mustWait, isTooMuch, isBusy } = await write.request(size)
    if (isTooMuch) size.shrink()
    else if (isBusy) size.shrinkForBusy()
    else size.grow()
    attempt = settled > 0 ? 0 : attempt + 1
    if (settled > 0) pauses = 0
    if (mustWait) await clock.sleep(backOffMs(PAUSE, ++pauses), signal)
  }
  return write.result
}

/** Forms of a document behind the one that it has. */
const MAX_FOLDS = 2
/** How often a document is tried again whose index is not there: somebody who deletes it is in the way for less than a second. */
const MAX_MISSED = 5

interface Item {
  readonly operation: BulkOperation
  readonly position: number
  /** How often it was folded: the second time it holds nothing that the store could refuse it for. */
  readonly folds: number
  /** How often its index was not there. */
  readonly missed: number
  /** A request with it got no answer: the document may be there by it, which its version then tells. */
  readonly isInDoubt: boolean
  /** The store's answer to the last request with it, where its index took nothing. */
  readonly downReason: string | undefined
}

const isMissing = (outcome: BulkOutcome) => outcome.status === 'refused' && outcome.isMissing === true

function writesTheSame(a: BulkOperation, b: BulkOperation): boolean {
  return Buffer.from(a.upsert ?? a.body).equals(Buffer.from(b.upsert ?? b.body))
}

function newItem(operation: BulkOperation, position: number): Item {
  return { operation, position, folds: 0, missed: 0, isInDoubt: false, downReason: undefined }
}

type Done = Extract<BulkOutcome, { readonly status: 'done' }>

/** The outcome of one request. */
interface Progress {
  readonly settled: number
  readonly mustWait: boolean
  /** Fewer at a time may pass. */
  readonly isTooMuch: boolean
  /** The store has too much to do. */
  readonly isBusy: boolean
}

/** `busy`: refused as a whole, which is taken for no answer but says why. */
type Answer = FirstOutcomes | 'busy'

interface Answered {
  readonly answer: Answer
  /** There was another request with the same operations before, which got no answer. */
  readonly wasSentTwice: boolean
}

/** The size of a request that was made already. */
const ALL: Pick<BulkSize, 'take'> = { take: operations => operations }

/** The operations of one call of `writeBulk`: the outcomes so far, and those that are left to write. */
class Write {
  readonly #operations: readonly BulkOperation[]
  readonly #deps: BulkWriterDeps
  readonly #counted: RecentIds
  /** Operations from here on were not sent yet. */
  #next = 0
  #again: readonly Item[] = []
  readonly #refused: RefusedItem[] = []
  #created = 0
  #errors = 0
  #hasDoubts = false
  /** Taken for the answer to the first request. */
  #first: FirstOutcomes | undefined
  lastReason = ''

  constructor(operations: readonly BulkOperation[], deps: BulkWriterDeps, first: FirstOutcomes | undefined) {
    this.#operations = operations
    this.#deps = deps
    this.#first = first
    this.#counted = deps.counted ?? new RecentIds(operations.length)
    if (first === undefined && deps.outages?.isAny === true) this.#skip(deps.outages)
  }

  /** Leaves out operations for an index that takes nothing: the others would wait for them. */
  #skip(outages: IndexOutages): void {
    const reasons = new Map([...new Set(this.#operations.map(({ index }) => index))].map(index => [index, outages.skipReason(index)]))
    const kept: Item[] = []
    for (const [position, operation] of this.#operations.entries()) {
      const reason = reasons.get(operation.index)
      if (reason === undefined) kept.push(newItem(operation, position))
      else this.#refused.push({ item: position, reason, hasNoRoom: false })
    }
    if (this.#refused.length === 0) return
    this.#next = this.#operations.length
    this.#again = kept
    this.#errors = this.#refused.length
    this.#deps.onProgress?.({ created: 0, errors: this.#errors })
  }

  /** The request to take in next was made already. */
  get isAnswered(): boolean {
    return this.#first !== undefined
  }

  get pending(): number {
    return this.#again.length + this.#operations.length - this.#next
  }

  get pendingIndices(): ReadonlySet<string> {
    return new Set([...this.#again.map(({ operation }) => operation), ...this.#operations.slice(this.#next)].map(({ index }) => index))
  }

  get result(): BulkResult {
    const isMadeAtOnce = this.#errors === 0 && !this.#hasDoubts && this.#created === this.#operations.length
    return { created: this.#created, errors: this.#errors, isMadeAtOnce, refused: this.#refused }
  }

  /** Sends operations that are due again, else the next new ones, as many as fit. */
  async request(size: BulkSize): Promise<Progress> {
    const wantsVersions = this.#again.some(({ isInDoubt }) => isInDoubt)
    const { operations, itemAt: takenAt, left } = this.#take(this.#first === undefined ? size : ALL)
    const { answer, wasSentTwice } = await this.#bulk(operations, wantsVersions)
    const itemAt = wasSentTwice ? (at: number): Item => ({ ...takenAt(at), isInDoubt: true }) : takenAt
    const before = { created: this.#created, errors: this.#errors }
    const outcomes = typeof answer === 'string' ? undefined : answer
    const { again, ...progress } = this.#takeOutcomes(operations, itemAt, outcomes, wantsVersions || wasSentTwice)
    const { outages } = this.#deps
    const kept = outages === undefined ? again : await this.#keepWorking(again, outages)
    this.#again = [...kept, ...left]
    this.#deps.onProgress?.({ created: this.#created - before.created, errors: this.#errors - before.errors })
    return {
      settled: operations.length - kept.length,
      mustWait: progress.mustWait,
      isTooMuch: progress.isTooMuch || answer === 'unanswered',
      isBusy: progress.isBusy || answer === 'busy',
    }
  }

  /** Settles what is done; `again` holds the items that are to be tried again. Without outcomes that is each of them. */
  #takeOutcomes(
    operations: readonly BulkOperation[],
    itemAt: (at: number) => Item,
    outcomes: readonly BulkOutcome[] | undefined,
    hasDoubts: boolean,
  ): Omit<Progress, 'settled'> & { readonly again: readonly Item[] } {
    const { outages } = this.#deps
    const watched = outages?.isAny === true ? outages : undefined
    const again: Item[] = []
    let mustWait = false
    let isTooMuch = false
    let isBusy = false
    for (let at = 0; at < operations.length; at++) {
      const outcome = outcomes?.[at]
      if (watched !== undefined && outcome !== undefined && outcome.status !== 'retry')
        watched.took(operations[at]!.index, itemAt(at).downReason !== undefined)
      if (outcome?.status === 'done') {
        this.#countDone(operations[at]!, outcome, hasDoubts && itemAt(at).isInDoubt)
        continue
      }
      const item = itemAt(at)
      const next = outcome === undefined ? this.#unanswered(item) : this.#settle(item, outcome)
      if (next !== undefined) again.push(next)
      if (outcome === undefined || outcome.status === 'retry' || (next !== undefined && isMissing(outcome))) mustWait = true
      if (outcome?.status !== 'retry') continue
      if (outcome.isBusy === true) isBusy = true
      else if (outcome.isTooMuch === true) isTooMuch = true
    }
    return { again, mustWait, isTooMuch, isBusy }
  }

  #countDone({ action, id, upsert }: BulkOperation, { created, version }: Done, isInDoubt: boolean): void {
    if (created && action === 'create' && !isInDoubt) this.#created++
    else if (created || (isInDoubt && version === 1 && upsert !== undefined)) this.#countOnce(id)
  }

  /** Refuses the items whose index is given up; the others are to be tried again. */
  async #keepWorking(items: readonly Item[], outages: IndexOutages): Promise<readonly Item[]> {
    const down = new Map<string, string>()
    for (const { operation, downReason } of items) if (downReason !== undefined) down.set(operation.index, downReason)
    for (const [index, reason] of down) outages.failed(index, reason)
    const givenUp = await outages.givenUp(down.keys())
    if (givenUp.size === 0) return items
    return items.filter(({ operation, position, downReason }) => {
      if (downReason === undefined || !givenUp.has(operation.index)) return true
      this.#refused.push({ item: position, reason: downReason, hasNoRoom: false })
      return false
    })
  }

  #take(size: Pick<BulkSize, 'take'>): { operations: readonly BulkOperation[]; itemAt: (at: number) => Item; left: readonly Item[] } {
    const items = this.#again
    if (items.length > 0) {
      const operations = size.take(items.map(({ operation }) => operation))
      return { operations, itemAt: at => items[at]!, left: items.slice(operations.length) }
    }
    const first = this.#next
    const operations = size.take(first === 0 ? this.#operations : this.#operations.slice(first))
    this.#next += operations.length
    return { operations, itemAt: at => newItem(operations[at]!, first + at), left: [] }
  }

  /** A request whose kept connection was closed is sent again at once, on another: the store is there, though the request may be done. */
  async #bulk(operations: readonly BulkOperation[], wantsVersions: boolean): Promise<Answered> {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) return { answer: first, wasSentTwice: false }
    const answer = await this.#send(operations, wantsVersions)
    if (answer !== 'closed') return { answer, wasSentTwice: false }
    this.#hasDoubts = true
    if (this.#deps.signal.aborted) return { answer: 'unanswered', wasSentTwice: false }
    const second = await this.#send(operations, true)
    return { answer: second === 'closed' ? 'unanswered' : second, wasSentTwice: true }
  }

  async #send(operations: readonly BulkOperation[], wantsVersions: boolean): Promise<Answer | 'closed'> {
    try {
      return await this.#deps.store.bulk(operations, { wantsVersions })
    } catch (error) {
      if (!(error instanceof SearchStoreUnavailable)) throw error
      this.lastReason = error.message
      if (error.isOfKeptConnection) return 'closed'
      return error.isBusy ? 'busy' : 'unanswered'
    }
  }

  /** A document without its request's answer may have been made by another operation on it, which then counts it. */
  #countOnce(id: string): void {
    if (this.#counted.has(id)) return
    this.#counted.add(id)
    this.#created++
  }

  #unanswered(item: Item): Item {
    this.#errors++
    return { ...item, isInDoubt: true, downReason: undefined }
  }

  /** The item as it is to be tried again; undefined once it is settled. */
  #settle(item: Item, outcome: Exclude<BulkOutcome, Done>): Item | undefined {
    if (outcome.status === 'exists') {
      if (item.isInDoubt) this.#countOnce(item.operation.id)
      return undefined
    }
    this.#errors++
    this.lastReason = outcome.reason
    const { fold, refusesWithoutRoom = false } = this.#deps
    const hasNoRoom = outcome.status === 'retry' && outcome.hasNoRoom === true
    if (isMissing(outcome) && item.missed < MAX_MISSED) return { ...item, missed: item.missed + 1, downReason: undefined }
    if (outcome.status === 'retry' && outcome.isDown === true) return { ...item, downReason: outcome.reason }
    if (outcome.status === 'retry' && !(hasNoRoom && refusesWithoutRoom)) return { ...item, downReason: undefined }
    if (!hasNoRoom && fold !== undefined && item.folds < MAX_FOLDS) {
      const operation = fold(item.operation, outcome.reason)
      if (item.folds === 0 || !writesTheSame(operation, item.operation)) return { ...item, operation, folds: item.folds + 1 }
    }
    this.#refused.push({ item: item.position, reason: outcome.reason, hasNoRoom })
    return undefined
  }
}
