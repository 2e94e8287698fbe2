/** Bulks of another thread of this process: the operations of `_bulk`, without HTTP. */
import type { MessagePort } from 'node:worker_threads'
import {
  type BulkAnswer,
  type BulkItemError,
  type BulkRequest,
  type PackedCreations,
  type PackedOperation,
  packedCreations,
  unpackBulk,
} from '../../../bulk-port/packed-bulk.ts'
import { ApiError } from '../../api-error.ts'
import type { BulkWalk, WalkAnswer } from '../../bulk-walker.ts'
import type { Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { createIn } from '../../catalog/operation-counts.ts'
import type { WalkedDocuments, WalkerNews } from '../../storage/walked-documents.ts'
import { writeResult } from '../documents/write-request.ts'
import { applyBulk } from './apply-bulk.ts'
import type { Settled } from './bulk-answer.ts'
import { type BulkItem, PORTION_ITEMS } from './bulk-request.ts'

/** Bulks that come through ports. */
export interface BulkPorts {
  attach(port: MessagePort): void
  /** Takes no more, answers those under way, closes the ports. */
  stop(): Promise<void>
}

export function createBulkPorts(catalog: Catalog, onError: (error: unknown) => void): BulkPorts {
  const ports = new Set<MessagePort>()
  const underWay = new Set<Promise<void>>()
  let isStopping = false

  const answer = async (port: MessagePort, request: BulkRequest): Promise<void> => {
    const { number } = request
    if (isStopping) return fail(port, number, 'the search store is being stopped')
    try {
      const answer = await applyRequest(catalog, request)
      const words = (answer.walk as WalkAnswer | undefined)?.words ?? []
      port.postMessage(answer, [answer.bytes, answer.statuses.buffer, answer.versions.buffer, ...words])
    } catch (error) {
      onError(error)
      fail(port, number, String(error))
    }
  }
  const fail = (port: MessagePort, number: number, reason: string) =>
    port.postMessage({ kind: 'failure', number, reason } satisfies BulkAnswer)

  return {
    attach(port) {
      ports.add(port)
      port.on('message', (request: BulkRequest) => {
        const answered = answer(port, request).finally(() => underWay.delete(answered))
        underWay.add(answered)
      })
      port.on('close', () => ports.delete(port))
    },
    async stop() {
      isStopping = true
      await Promise.all(underWay)
      for (const port of ports) port.close()
    },
  }
}

type Answer = Extract<BulkAnswer, { kind: 'answer' }>

/** Each operation ends as it does in `applyItems`, which takes them all. */
async function applyRequest(catalog: Catalog, request: BulkRequest): Promise<Answer> {
  const walks = (request.walk ?? []) as BulkWalk
  const creations = packedCreations(request)?.map(each => withWalk(each, walks))
  const targets = creations && (await creationTargets(catalog, creations))
  const answer = await (targets === undefined ? applyItems(catalog, request) : createAll(request, targets))
  return walks.length === 0 ? answer : { ...answer, walk: walkAnswer(targets ?? [], walks) }
}

function withWalk(creations: PackedCreations, walks: BulkWalk): WalkedCreations {
  const walked = walks.find(({ index }) => index === creations.index)?.walked
  return walked?.count === creations.count ? { ...creations, walked } : creations
}

function walkAnswer(targets: readonly CreationTarget[], walks: BulkWalk): WalkAnswer {
  const news: [string, WalkerNews][] = []
  for (const { creations, index } of targets) {
    const walk = walks.find(each => each.index === creations.index)
    const own = walk && index.storage.newsFor?.(walk.known)
    if (own !== undefined) news.push([creations.index, own])
  }
  return { news, words: walks.flatMap(({ walked }) => walked?.words ?? []) }
}

type WalkedCreations = PackedCreations & { readonly walked?: WalkedDocuments }

interface CreationTarget {
  readonly creations: WalkedCreations
  readonly index: CatalogIndex
}

/** Where the documents go; undefined where an index does not take creations as they are. */
async function creationTargets(catalog: Catalog, all: readonly WalkedCreations[]): Promise<readonly CreationTarget[] | undefined> {
  const targets: CreationTarget[] = []
  for (const creations of all) {
    const index = await targetOf(catalog, creations.index)
    if (index === undefined || index.dataStream !== undefined || index.storage.create === undefined) return undefined
    targets.push({ creations, index })
  }
  return targets
}

/** Undefined where there is none. */
async function targetOf(catalog: Catalog, name: string): Promise<CatalogIndex | undefined> {
  try {
    return await catalog.writeTarget(name, 'create')
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

async function createAll({ number, bytes }: BulkRequest, targets: readonly CreationTarget[]): Promise<Answer> {
  const count = targets.reduce((sum, { creations }) => sum + creations.count, 0)
  const statuses = new Uint16Array(count).fill(CREATED)
  const versions = new Float64Array(count).fill(1)
  const errors = new Map<number, BulkItemError>()
  // All of them end before this does: the documents are views into the memory that goes back.
  const ends = await Promise.allSettled(targets.map(({ index, creations }) => createIn(index, creations)))
  for (const [at, end] of ends.entries()) {
    if (end.status === 'rejected') throw end.reason
    const { creations, index } = targets[at]!
    for (const [k, error] of end.value) {
      const position = creations.positions[k]!
      const result = writeResult('', { error }, index, false)
      statuses[position] = result.status
      versions[position] = 0
      errors.set(position, 'error' in result ? result.error : {})
    }
  }
  return { kind: 'answer', number, bytes, statuses, versions, errors }
}

async function applyItems(catalog: Catalog, request: BulkRequest): Promise<Answer> {
  const items = unpackBulk(request).map(operation => itemOf(operation, request.idsTellTimes === true))
  const statuses = new Uint16Array(items.length)
  const versions = new Float64Array(items.length)
  const errors = new Map<number, BulkItemError>()
  for (let start = 0; start < items.length; start += PORTION_ITEMS) {
    const portion = items.slice(start, start + PORTION_ITEMS)
    for (const [at, settled] of (await applyBulk(catalog, portion)).entries()) {
      const place = start + at
      const end = endOf(portion[at]!, settled)
      statuses[place] = end.status
      versions[place] = end.version
      if (end.error !== undefined) errors.set(place, end.error)
    }
  }
  return { kind: 'answer', number: request.number, bytes: request.bytes, statuses, versions, errors }
}

function itemOf({ action, index, id, body, upsert }: PackedOperation, idTellsTime: boolean): BulkItem {
  const op =
    action === 'update'
      ? ({ action, id, partial: body, ...(upsert !== undefined && { upsert }), idTellsTime } as const)
      : ({ action, id, source: body, idTellsTime } as const)
  return { action, index, id, op, error: undefined, requireAlias: false }
}

const CREATED = 201

/** As `_bulk` shows it. */
function endOf(item: BulkItem, settled: Settled): { readonly status: number; readonly version: number; readonly error?: BulkItemError } {
  if (settled.kind === 'refused') return { status: settled.error.status, version: 0, error: settled.error.toCause() }
  const { outcome } = settled
  if ('result' in outcome) return { status: outcome.result === 'created' ? CREATED : 200, version: outcome.version }
  const result = writeResult(item.id ?? '', outcome, settled.index, false)
  return { status: result.status, version: 0, error: 'error' in result ? result.error : {} }
}
