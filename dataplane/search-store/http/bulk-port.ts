/** Bulks of another thread of this process: the operations of `_bulk`, without HTTP. */
import type { MessagePort } from 'node:worker_threads'
import { type BulkAnswer, type BulkItemError, type BulkRequest, type PackedOperation, unpackBulk } from '../../bulk-port/packed-bulk.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { applyBulk } from './apply-bulk.ts'
import type { Settled } from './bulk-answer.ts'
import { type BulkItem, PORTION_ITEMS } from './bulk-request.ts'
import { writeResult } from './write-request.ts'

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
      port.postMessage(answer, [answer.bytes, answer.statuses.buffer, answer.versions.buffer])
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

async function applyRequest(catalog: Catalog, request: BulkRequest): Promise<Extract<BulkAnswer, { kind: 'answer' }>> {
  const items = unpackBulk(request).map(itemOf)
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

function itemOf({ action, index, id, body, upsert }: PackedOperation): BulkItem {
  const op =
    action === 'update'
      ? ({ action, id, partial: body, ...(upsert !== undefined && { upsert }) } as const)
      : ({ action, id, source: body } as const)
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
