/** A Kubernetes API server for tests: real HTTP, objects in memory, and every way of misbehaving that the runtime has to bear. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Asked, describeAsked, type Verb } from '../api-failure.ts'
import type { ClusterAccess } from '../cluster-access.ts'
import type { KubernetesObject } from '../object.ts'
import { apiVersionOf, keyOf, qualifiedName, type Resource } from '../resource.ts'
import { createFaultRules, type FakeRequest, type Fault, type FaultMatch, matches } from './fake-faults.ts'
import { parseSelectors } from './fake-selector.ts'
import { FakeStorage, type Part, StorageError } from './fake-storage.ts'
import { createFakeWatches, type FakeWatches } from './fake-watches.ts'

export interface FakeApiServer {
  readonly access: ClusterAccess
  readonly storage: FakeStorage
  readonly watches: FakeWatches
  /** Every request so far, watches too. */
  readonly requests: readonly FakeRequest[]
  /** Those that change something. */
  writes(): readonly FakeRequest[]
  forgetRequests(): void
  /** Answers matching requests with a fault; returns a function that ends the fault. Default: once. */
  fault(match: FaultMatch, fault: Fault, times?: number): () => void
  /** Each request waits for this before it is carried out, also where its client gives up meanwhile: a server that is slow. */
  pace(wait: (request: FakeRequest) => Promise<void>): void
  /** Takes a permission away; returns what gives it back. */
  deny(match: FaultMatch): () => void
  /** As when a custom resource definition is created. */
  addResource(resource: Resource): void
  /** As when it is deleted: its watches end, its objects are gone, its addresses answer 404. */
  removeResource(resource: Resource): void
  /** Cuts every connection and forgets the history: older resourceVersions answer 410. */
  restart(): void
  stop(): Promise<void>
}

interface Addressed extends Asked {
  readonly resource: string
  readonly kind: Resource
  readonly subresource: string | undefined
}

const VERBS: Readonly<Record<string, Verb>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

export async function startFakeApiServer(resources: readonly Resource[], nowMs: () => number = Date.now): Promise<FakeApiServer> {
  const known = new Map(resources.map(resource => [qualifiedName(resource), resource]))
  const storage = new FakeStorage(nowMs)
  const watches = createFakeWatches(storage)
  const rules = createFaultRules()
  const denied = new Set<FaultMatch>()
  const requests: FakeRequest[] = []
  let pace: ((request: FakeRequest) => Promise<void>) | undefined
  const pages = new Map<string, { readonly items: readonly KubernetesObject[]; readonly version: number }>()

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(message.url!, 'http://fake')
    const asked = addressOf(message.method!, url, known)
    const request: FakeRequest = { ...askedOf(asked), method: message.method!, url, headers: message.headers }
    requests.push(request)
    const body = await readBody(message)
    const fault = rules.take(request)
    if (fault?.kind === 'silence') return
    if (fault?.kind === 'reset') return void response.destroy()
    if (fault?.kind === 'slow') await fault.until
    await pace?.(request)
    if (fault?.kind === 'status')
      return sendStatus(response, fault.code, fault.reason, fault.message ?? 'as the test wants it', fault.retryAfter)
    if ([...denied].some(match => matches(match, request))) return sendStatus(response, 403, 'Forbidden', forbidden(request))
    if (url.pathname === '/apis') return sendDiscovery(message, response, discovery(known.values()))
    if (asked === undefined) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n')
    if (asked.verb === 'watch') return openWatch(asked, url, message, response)
    const [status, answer] = perform(asked, url, message, body)
    sendJson(response, status, answer, fault?.kind === 'truncate')
  }

  const openWatch = ({ kind, namespace }: Addressed, url: URL, message: IncomingMessage, response: ServerResponse): void =>
    watches.open(
      {
        collection: qualifiedName(kind),
        namespace,
        selector: parseSelectors(url.searchParams.get('labelSelector'), url.searchParams.get('fieldSelector')),
        since: Number(url.searchParams.get('resourceVersion') ?? 0),
        kind: { apiVersion: apiVersionOf(kind), kind: kind.kind },
        shape: wantsMetadata(message) ? metadataOf : object => object,
      },
      response,
    )

  const perform = (asked: Addressed, url: URL, message: IncomingMessage, body: string): readonly [number, unknown] => {
    const collection = qualifiedName(asked.kind)
    const key = keyOf({ name: asked.name ?? '', ...(asked.namespace !== undefined && { namespace: asked.namespace }) })
    const manager = url.searchParams.get('fieldManager') ?? 'unknown'
    const part: Part = asked.subresource === 'status' ? 'status' : 'main'
    switch (asked.verb) {
      case 'list':
        return [200, listPage(asked, url, wantsMetadata(message))]
      case 'get':
        return [200, storage.get(collection, key)]
      case 'create': {
        const object = JSON.parse(body) as KubernetesObject
        return [201, storage.create(collection, keyOf(object.metadata), object, manager)]
      }
      case 'update':
        return [200, storage.update(collection, key, JSON.parse(body), manager, part)]
      case 'patch': {
        if (message.headers['content-type'] !== 'application/apply-patch+yaml')
          return [200, storage.patch(collection, key, JSON.parse(body), manager, part)]
        const force = url.searchParams.get('force') === 'true'
        return [200, storage.apply(collection, key, JSON.parse(body), { manager, force, part })]
      }
      case 'delete':
        storage.delete(collection, key, body === '' ? {} : JSON.parse(body).preconditions)
        return [200, { kind: 'Status', apiVersion: 'v1', status: 'Success' }]
      case 'watch':
        throw new StorageError(405, 'MethodNotAllowed', 'a watch is opened elsewhere')
    }
  }

  const listPage = ({ kind, namespace }: Addressed, url: URL, metadataOnly: boolean): unknown => {
    const token = url.searchParams.get('continue')
    const [id, from] = token === null ? ['', 0] : (JSON.parse(token) as [string, number])
    const selector = parseSelectors(url.searchParams.get('labelSelector'), url.searchParams.get('fieldSelector'))
    const inScope = (object: KubernetesObject) => (namespace === undefined || object.metadata.namespace === namespace) && selector(object)
    const snapshot = token === null ? { items: storage.list(qualifiedName(kind)).filter(inScope), version: storage.version } : pages.get(id)
    if (snapshot === undefined) throw new StorageError(410, 'Expired', 'The provided continue parameter is too old')
    const limit = Number(url.searchParams.get('limit') ?? 0) || snapshot.items.length
    const left = snapshot.items.length > from + limit
    const next = token === null ? `page-${pages.size}` : id
    if (left) pages.set(next, snapshot)
    const items = snapshot.items.slice(from, from + limit).map(item => {
      const { apiVersion: _version, kind: _kind, ...rest } = metadataOnly ? metadataOf(item) : item
      return rest
    })
    const metadata = { resourceVersion: String(snapshot.version), ...(left && { continue: JSON.stringify([next, from + limit]) }) }
    return { apiVersion: apiVersionOf(kind), kind: `${kind.kind}List`, metadata, items }
  }

  const server = createServer((message, response) => {
    handle(message, response).catch(error => {
      if (error instanceof StorageError) return sendStatus(response, error.code, error.reason, error.message)
      sendStatus(response, 500, 'InternalError', String(error))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  return {
    access: {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      tls: { insecure: false },
      auth: {},
      namespace: 'default',
    },
    storage,
    watches,
    requests,
    writes: () => requests.filter(({ verb }) => verb !== 'get' && verb !== 'list' && verb !== 'watch'),
    forgetRequests: () => void requests.splice(0),
    fault: (match, fault, times = 1) => rules.add(match, fault, times),
    pace(wait) {
      pace = wait
    },
    deny(match) {
      denied.add(match)
      return () => denied.delete(match)
    },
    addResource: resource => known.set(qualifiedName(resource), resource),
    removeResource(resource) {
      const name = qualifiedName(resource)
      known.delete(name)
      for (const { metadata } of storage.list(name)) storage.delete(name, keyOf(metadata))
      watches.break('ended', name)
    },
    restart() {
      storage.compact()
      pages.clear()
      server.closeAllConnections()
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Undefined: the server knows no such thing. */
function addressOf(method: string, url: URL, known: ReadonlyMap<string, Resource>): Addressed | undefined {
  const parts = url.pathname.split('/').slice(1).map(decodeURIComponent)
  const [group, version, rest] = parts[0] === 'api' ? ['', parts[1], parts.slice(2)] : [parts[1], parts[2], parts.slice(3)]
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2
  const namespace = inNamespace ? rest[1] : undefined
  const [plural, name, subresource] = inNamespace ? rest.slice(2) : rest
  const kind = known.get(group === '' ? `${plural}` : `${plural}.${group}`)
  if (kind === undefined || kind.version !== version) return undefined
  const read: Verb = name !== undefined ? 'get' : url.searchParams.get('watch') === 'true' ? 'watch' : 'list'
  return {
    verb: VERBS[method] ?? read,
    resource: qualifiedName(kind) + (subresource === undefined ? '' : `/${subresource}`),
    kind,
    subresource,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  }
}

function askedOf(asked: Addressed | undefined): Asked {
  if (asked === undefined) return { verb: 'get', resource: 'unknown' }
  const { kind: _kind, subresource: _subresource, ...rest } = asked
  return rest
}

function wantsMetadata(message: IncomingMessage): boolean {
  return message.headers.accept?.includes('as=PartialObjectMetadata') === true
}

function metadataOf({ metadata }: KubernetesObject): KubernetesObject {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }
}

function discovery(resources: Iterable<Resource>): unknown {
  const items = [...resources]
    .filter(({ group }) => group !== '')
    .map(({ group, version, plural, kind, namespaced }) => ({
      metadata: { name: group },
      versions: [
        {
          version,
          resources: [{ resource: plural, responseKind: { group, version, kind }, scope: namespaced ? 'Namespaced' : 'Cluster' }],
        },
      ],
    }))
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items }
}

function sendDiscovery(message: IncomingMessage, response: ServerResponse, body: unknown): void {
  const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 8)}"`
  if (message.headers['if-none-match'] === etag) return void response.writeHead(304).end()
  response.setHeader('etag', etag)
  sendJson(response, 200, body)
}

function forbidden(request: FakeRequest): string {
  return `${request.resource} is forbidden: User "system:serviceaccount:logpipeline:operator" cannot ${describeAsked(request)}`
}

function sendStatus(response: ServerResponse, code: number, reason: string, message: string, retryAfter?: number): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter))
  sendJson(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message })
}

function sendJson(response: ServerResponse, code: number, body: unknown, truncated = false): void {
  const text = JSON.stringify(body)
  response.writeHead(code, { 'content-type': 'application/json' }).end(truncated ? text.slice(0, text.length / 2) : text)
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
