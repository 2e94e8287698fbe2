/** The open watches of the fake API server. */
import type { ServerResponse } from 'node:http'
import type { KubernetesObject } from '../object.ts'
import type { Selector } from './fake-selector.ts'
import type { FakeStorage, StoredEvent } from './fake-storage.ts'

export type WatchBreak =
  /** 410 in the stream. */
  | 'gone'
  /** The last line is cut off. */
  | 'truncated'
  /** As when `timeoutSeconds` is over. */
  | 'ended'
  | 'reset'
  /** The connection stays, nothing comes any more: half open, or a server that hangs. */
  | 'silent'

export interface WatchRequest {
  readonly collection: string
  readonly namespace: string | undefined
  readonly selector: Selector
  readonly since: number
  readonly kind: { readonly apiVersion: string; readonly kind: string }
  readonly shape: (object: KubernetesObject) => KubernetesObject
}

interface OpenWatch extends WatchRequest {
  readonly response: ServerResponse
  silent: boolean
  /** Leaves of an object the part that is sent. */
  cut: (object: KubernetesObject) => KubernetesObject
}

export interface FakeWatches {
  /** How many are open. */
  readonly count: number
  /** Those of one collection. */
  countOf(collection: string): number
  open(request: WatchRequest, response: ServerResponse): void
  /** Tells every watch how far it has come. */
  bookmark(): void
  break(how: WatchBreak, collection?: string): void
  /** The watches that are open go on with less of each object, as those that began before a CRD was updated. */
  outdate(collection: string, cut: (object: KubernetesObject) => KubernetesObject): void
}

export function createFakeWatches(storage: FakeStorage): FakeWatches {
  const open = new Set<OpenWatch>()
  storage.onEvent(event => {
    for (const watch of open) send(watch, event)
  })
  return {
    get count() {
      return open.size
    },
    countOf: collection => [...open].filter(watch => watch.collection === collection).length,
    open(request, response) {
      const watch: OpenWatch = { ...request, response, silent: false, cut: object => object }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      const missed = storage.eventsAfter(request.since)
      if (missed === undefined) return end(watch, 'gone')
      for (const event of missed) send(watch, event)
      open.add(watch)
      response.on('close', () => open.delete(watch))
    },
    bookmark() {
      for (const { response, silent, kind } of open)
        if (!silent) writeLine(response, 'BOOKMARK', { ...kind, metadata: { resourceVersion: String(storage.version) } })
    },
    break(how, collection) {
      for (const watch of open) if (collection === undefined || watch.collection === collection) end(watch, how)
    },
    outdate(collection, cut) {
      for (const watch of open) if (watch.collection === collection) watch.cut = cut
    },
  }
}

function end(watch: OpenWatch, how: WatchBreak): void {
  const { response } = watch
  watch.silent = true
  switch (how) {
    case 'gone':
      writeLine(response, 'ERROR', {
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: 'The resourceVersion for the provided watch is too old.',
      })
      response.end()
      return
    case 'truncated':
      response.end('{"type":"MODIFIED","object":{"metadata":{"name":"cut')
      return
    case 'ended':
      response.end()
      return
    case 'reset':
      response.destroy()
      return
    case 'silent':
      return
  }
}

function send({ response, silent, collection, namespace, selector, shape, since, cut }: OpenWatch, event: StoredEvent): void {
  // As the API server does: also for a version that it has not reached yet.
  if (silent || event.collection !== collection || event.version <= since) return
  if (namespace !== undefined && event.object.metadata.namespace !== namespace) return
  const was = event.before !== undefined && selector(event.before)
  const is = event.type !== 'DELETED' && selector(event.object)
  if (!was && !is) return
  writeLine(response, is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', cut(shape(event.object)))
}

function writeLine(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`)
}
