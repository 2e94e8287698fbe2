/** Works on items of many owners in rounds. Each round has some of every owner, so that one owner's many do not hold another's few. */
import { createTurnstile } from './turns.ts'

export interface FairRounds<T, R> {
  /** Resolves once all of the items are worked on, with the findings about them. Items of one owner keep their order. */
  add(items: readonly T[]): Promise<readonly R[]>
  /** Runs something while no round is under way. */
  between<X>(run: () => Promise<X>): Promise<X>
  /** Begins no further round for what was added: what is not done after the round under way rejects with this error. */
  leave(error: Error): void
}

export interface FairRoundsConfig<T, R extends { readonly item: T }> {
  readonly ownerOf: (item: T) => string
  /** Items of one part cost together about as much as one of them. */
  readonly partOf: (item: T) => string
  readonly maxItems: number
  readonly maxParts: number
  /** Works on one round; resolves to findings about some of its items. When it rejects, everything that waits rejects, then and from then on. */
  work(items: readonly T[]): Promise<readonly R[]>
}

/** The items of one call of `add`. */
interface Delivery<R> {
  left: number
  readonly findings: R[]
  resolve(findings: readonly R[]): void
  reject(error: unknown): void
}

interface Waiting<T, R> {
  readonly item: T
  readonly delivery: Delivery<R>
}

export function createFairRounds<T, R extends { readonly item: T }>(config: FairRoundsConfig<T, R>): FairRounds<T, R> {
  const { ownerOf, work } = config
  /** The owner who was served longest ago first. */
  const queues = new Map<string, Queue<Waiting<T, R>>>()
  const deliveries = new Set<Delivery<R>>()
  const alone = createTurnstile(1)
  let failure: { readonly error: unknown } | undefined
  let isRunning = false

  const rejectAll = (error: unknown) => {
    queues.clear()
    for (const { reject } of deliveries) reject(error)
    deliveries.clear()
  }
  const settle = (round: readonly Waiting<T, R>[], findings: readonly R[]) => {
    const owners = new Map(round.map(({ item, delivery }) => [item, delivery]))
    for (const finding of findings) owners.get(finding.item)?.findings.push(finding)
    for (const { delivery } of round) {
      if (--delivery.left > 0 || !deliveries.delete(delivery)) continue
      delivery.resolve(delivery.findings)
    }
  }
  const runRound = async () => {
    const round = takeRound(queues, config)
    try {
      if (round.length > 0) settle(round, await work(round.map(({ item }) => item)))
    } catch (error) {
      failure = { error }
      rejectAll(error)
    }
  }
  const run = async () => {
    if (isRunning) return
    isRunning = true
    while (queues.size > 0) await alone(runRound)
    isRunning = false
  }

  return {
    add(items) {
      if (failure !== undefined) return Promise.reject(failure.error)
      if (items.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        const delivery: Delivery<R> = { left: items.length, findings: [], resolve, reject }
        deliveries.add(delivery)
        for (const item of items) {
          const owner = ownerOf(item)
          const queue = queues.get(owner) ?? new Queue()
          queues.set(owner, queue)
          queue.push({ item, delivery })
        }
        void run()
      })
    },
    between: alone,
    leave(error) {
      queues.clear()
      void alone(async () => rejectAll(error))
    },
  }
}

/** Takes some of every owner, those who wait with least first: the room that they leave is for the others. Owners of whom some are left come last the next time. */
function takeRound<T, R extends { readonly item: T }>(
  queues: Map<string, Queue<Waiting<T, R>>>,
  { partOf, maxItems, maxParts }: FairRoundsConfig<T, R>,
): readonly Waiting<T, R>[] {
  const turn = [...firstOf(queues, Math.min(maxItems, maxParts))].sort(([, a], [, b]) => a.size - b.size)
  const round: Waiting<T, R>[] = []
  let partsLeft = maxParts
  for (const [at, [owner, queue]] of turn.entries()) {
    const ownersLeft = turn.length - at
    const mostItems = Math.floor((maxItems - round.length) / ownersLeft)
    const mostParts = Math.floor(partsLeft / ownersLeft)
    const parts = new Set<string>()
    for (let taken = 0; taken < mostItems; taken++) {
      const next = queue.first
      if (next === undefined) break
      const part = partOf(next.item)
      if (!parts.has(part) && parts.size === mostParts) break
      parts.add(part)
      round.push(next)
      queue.shift()
    }
    partsLeft -= parts.size
    queues.delete(owner)
    if (queue.size > 0) queues.set(owner, queue)
  }
  return round
}

function* firstOf<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0
  for (const item of items) {
    if (taken++ === count) return
    yield item
  }
}

/** First in, first out; taking the first one costs the same however many wait. */
class Queue<T> {
  #items: T[] = []
  #taken = 0

  get size(): number {
    return this.#items.length - this.#taken
  }

  get first(): T | undefined {
    return this.#items[this.#taken]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): void {
    this.#taken++
    if (this.#taken < MIN_TAKEN || this.#taken < this.#items.length / 2) return
    this.#items = this.#items.slice(this.#taken)
    this.#taken = 0
  }
}

/** Places of taken items that are given back together. */
const MIN_TAKEN = 1_000
