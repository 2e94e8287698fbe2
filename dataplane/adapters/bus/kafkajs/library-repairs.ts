/** Repairs of `kafkajs` in places that cannot be reached from outside. */
import { createRequire } from 'node:module'
import { type AnswerReader, type FetchedMessage, readFetchedMessages } from './fetch-answer.ts'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

interface ConsumerGroup {
  readonly cluster: { connect(): Promise<void> }
  readonly retrier: (work: () => Promise<void>) => Promise<void>
  joinAndSync(): Promise<void>
}

const load = createRequire(import.meta.url)
let isRepaired = false

/** Mends `kafkajs` 2.2.4 where it cannot be worked around from outside, for all clients of the process. */
export function repairLibrary(): void {
  if (isRepaired) return
  isRepaired = true
  repairRequestQueue(load('kafkajs/src/network/requestQueue/index.js').prototype)
  repairConsumerGroup(load('kafkajs/src/consumer/consumerGroup.js').prototype)
  replaceModule(DECODE_MESSAGES, async (answer: AnswerReader): Promise<readonly FetchedMessage[]> => readFetchedMessages(answer))
}

/** Where the library reads the messages of a Fetch answer. It loads the readers of the answer's versions when it needs them, each time anew. */
const DECODE_MESSAGES = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js'
const FETCH_ANSWER = /\/protocol\/requests\/fetch\/v\d+\/response\.js$/

function replaceModule(path: string, replacement: unknown): void {
  load(path)
  const { cache } = load
  cache[load.resolve(path)]!.exports = replacement
  // Those that were loaded before hold the original.
  for (const loaded of Object.keys(cache)) if (FETCH_ANSWER.test(loaded)) delete cache[loaded]
}

/**
 * From its first answer on, each connection checks every millisecond for requests that wait; an answer that comes after the connection was
 * closed starts that again, for good.
 */
function repairRequestQueue(queue: RequestQueue): void {
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}

/**
 * A member whose group's coordinator moved, and is still loading, gives up joining but goes on fetching: its heartbeats reach the new
 * coordinator, its commits the old one, for ever. What passes has to be tried again; if that fails too often, the consumer ends, and is
 * made anew. Several fetchers may ask for it at once, and would throw each other out of the group.
 */
function repairConsumerGroup(group: ConsumerGroup): void {
  const join = group.joinAndSync
  const underWay = new WeakMap<ConsumerGroup, Promise<void>>()
  group.joinAndSync = function (this: ConsumerGroup) {
    const attempt = async () => {
      await this.cluster.connect() // ends it, rather than the attempt, once the client is closed
      await join.call(this)
    }
    const joining = underWay.get(this) ?? this.retrier(attempt).finally(() => underWay.delete(this))
    underWay.set(this, joining)
    return joining
  }
}
