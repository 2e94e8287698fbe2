/** Bulks to a search store in another thread of this process, without HTTP. */
import type { MessagePort } from 'node:worker_threads'
import type { BulkWalker } from '../../bulk-port/bulk-walker.ts'
import { type BulkAnswer, type BulkRequest, type PackedBulk, packBulk, unpackBulk } from '../../bulk-port/packed-bulk.ts'
import { LentBuffers } from '../../memory/lent-buffers.ts'
import {
  type BulkOperation,
  type BulkOutcome,
  type PackedOutcomes,
  type SearchStore,
  SearchStoreUnavailable,
} from '../../ports/search-store.ts'
import { bulkOutcome } from './bulk-outcome.ts'

/**
 * The same store, with bulks that go through `port`, those that come packed with the work of the `walker`, and everything else as before. Once the port is closed, as the store's thread has ended, bulks
 * go as before, too.
 */
export function withBulkPort(store: SearchStore, port: MessagePort, walker?: BulkWalker): SearchStore {
  const memory = new LentBuffers()
  const waiting = new Map<number, PromiseWithResolvers<BulkAnswer>>()
  let isOpen = true
  let requests = 0
  port.on('message', (answer: BulkAnswer) => {
    waiting.get(answer.number)?.resolve(answer)
    waiting.delete(answer.number)
  })
  port.on('close', () => {
    isOpen = false
    for (const { reject } of waiting.values()) reject(new SearchStoreUnavailable('the search store ended before it answered a bulk'))
    waiting.clear()
  })

  const send = async (packed: PackedBulk, walk?: ReturnType<BulkWalker['walk']>): Promise<Answered> => {
    const number = requests++
    const answered = Promise.withResolvers<BulkAnswer>()
    waiting.set(number, answered)
    const request: BulkRequest = { kind: 'bulk', number, ...packed, walk: walk?.message }
    port.postMessage(request, [packed.bytes, ...(walk?.transfer ?? [])])
    const answer = await answered.promise
    if (answer.kind === 'failure') throw new SearchStoreUnavailable(`search store: ${answer.reason}`)
    if (answer.walk !== undefined) walker?.learn(answer.walk)
    return answer
  }

  const bulk = async (operations: readonly BulkOperation[], wantsVersions: boolean): Promise<readonly BulkOutcome[]> => {
    const { bytes, statuses, versions, errors } = await send(packBulk(operations, sizeBytes => memory.takeWhole(sizeBytes)))
    memory.giveBack(Buffer.from(bytes))
    return operations.map(({ action }, at) => {
      const error = errors.get(at)
      const version = wantsVersions && error === undefined ? { _version: versions[at]! } : {}
      return bulkOutcome(action, { status: statuses[at]!, ...version, ...(error !== undefined && { error }) })
    })
  }

  const bulkPacked = async (packed: PackedBulk): Promise<PackedOutcomes> => {
    const { bytes, statuses, errors } = await send(packed, walker?.walk(packed))
    if (errors.size === 0 && statuses.every(status => status === CREATED)) return { outcomes: 'created', bytes }
    const outcomes = unpackBulk({ ...packed, bytes }).map(({ action }, at) => {
      const error = errors.get(at)
      return bulkOutcome(action, { status: statuses[at]!, ...(error !== undefined && { error }) })
    })
    return { outcomes, bytes }
  }

  return {
    ...store,
    async bulk(operations, options) {
      if (!isOpen) return store.bulk(operations, options)
      return operations.length === 0 ? [] : bulk(operations, options?.wantsVersions ?? false)
    },
    get bulkPacked() {
      return isOpen ? bulkPacked : undefined
    },
    async close() {
      port.close()
      await store.close()
    },
  }
}

type Answered = Extract<BulkAnswer, { kind: 'answer' }>

/** As HTTP has it. */
const CREATED = 201
