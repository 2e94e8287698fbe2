/** A real OpenSearch and the embedded store with the same templates and documents. */

import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { INDEX_TEMPLATES } from '../../../domain/documents/index-templates.ts'
import { startTestStore } from '../test-store.ts'
import type { ComparedDocument } from './compared-documents.ts'

export interface StoreAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of a store have any shape
  readonly body: any
}

export interface TwoStores {
  /** The same request to both: the real one's answer, then ours. */
  ask(method: string, path: string, body?: unknown): Promise<readonly [real: StoreAnswer, embedded: StoreAnswer]>
  /** Bulk `create` in the given order, on both; then visible to searches. */
  load(documents: readonly ComparedDocument[]): Promise<void>
  stop(): Promise<void>
}

const BATCH = 500

/** Deletes the indices that fit `indices` before and after. */
export async function startTwoStores(realUrl: string, indices: string): Promise<TwoStores> {
  const embedded = await startTestStore({ clock: systemClock })
  const ask: TwoStores['ask'] = (method, path, body) =>
    Promise.all([send(realUrl, method, path, body), send(embedded.url, method, path, body)])
  const clear = () => send(realUrl, 'DELETE', `/${indices}?expand_wildcards=all&ignore_unavailable=true`)
  await clear()
  for (const [name, template] of Object.entries(INDEX_TEMPLATES)) expectOk(await ask('PUT', `/_index_template/${name}`, template))
  return {
    ask,
    async load(documents) {
      for (let at = 0; at < documents.length; at += BATCH) {
        const lines = documents
          .slice(at, at + BATCH)
          .map(({ index, id, body }) => `${JSON.stringify({ create: { _index: index, _id: id } })}\n${JSON.stringify(body)}\n`)
        const answers = await ask('POST', '/_bulk?refresh=true', lines.join(''))
        expectOk(answers)
        for (const { body } of answers)
          if (body.errors) throw new Error(`not all documents were taken: ${JSON.stringify(body.items.find(isRefused))}`)
      }
    },
    async stop() {
      await clear()
      for (const name of Object.keys(INDEX_TEMPLATES)) await send(realUrl, 'DELETE', `/_index_template/${name}`)
      await embedded.stop()
    },
  }
}

const isRefused = (item: Record<string, { status: number }>) => Object.values(item).some(({ status }) => status >= 300)

function expectOk(answers: readonly StoreAnswer[]): void {
  for (const { status, body } of answers) if (status >= 300) throw new Error(`a store answered ${status}: ${JSON.stringify(body)}`)
}

async function send(url: string, method: string, path: string, body?: unknown): Promise<StoreAnswer> {
  const payload = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  const type = path.startsWith('/_bulk') ? 'application/x-ndjson' : 'application/json'
  const response = await fetch(url + path, { method, body: payload, ...(payload !== null && { headers: { 'content-type': type } }) })
  const text = await response.text()
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text }
}
