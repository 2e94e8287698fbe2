/** The Kubernetes API over HTTP: addresses, content types and answers of each kind of request. */
import { OPERATOR_NAME } from '../contract/operator-name.ts'
import { type ApiAnswer, type Asked, NO_ANSWER, noAnswer, type Verb } from './api-failure.ts'
import type { ClusterAccess } from './cluster-access.ts'
import { createDiscovery } from './discover.ts'
import { createApiTransport, describeError, type HttpRequest, type TransportDeps } from './http-transport.ts'
import type { KubeClient, ObjectPage, Selection, WatchEvent } from './kube-client.ts'
import type { KubernetesObject } from './object.ts'
import { parseBody } from './parse-body.ts'
import { apiVersionOf, collectionPath, type ObjectName, objectPath, qualifiedName, type Resource } from './resource.ts'
import { readWatchEvents } from './watch-lines.ts'

const APPLY_PATCH = 'application/apply-patch+yaml'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

export function createHttpKubeClient(access: ClusterAccess, deps: TransportDeps): KubeClient {
  const transport = createApiTransport(access, deps)

  const sendObject = async (request: HttpRequest): Promise<ApiAnswer<KubernetesObject>> => {
    const answer = await transport.send(request)
    return answer.ok ? parseBody<KubernetesObject>(answer.value.text, request.asked) : answer
  }

  const applyTo = (resource: Resource, object: KubernetesObject, force: boolean, subresource?: string): HttpRequest => ({
    asked: askedOf('patch', resource, object.metadata, subresource),
    method: 'PATCH',
    path: objectPath(resource, object.metadata, subresource),
    query: { fieldManager: OPERATOR_NAME, force },
    contentType: APPLY_PATCH,
    body: object,
  })

  return {
    get: (resource, name, options) =>
      sendObject({ asked: askedOf('get', resource, name), method: 'GET', path: objectPath(resource, name), ...options }),

    async list(resource, page, options) {
      const asked = askedOf('list', resource, page)
      const query = { ...selectionQuery(page), limit: page.limit, continue: page.continue }
      const accept = page.metadataOnly === true ? { accept: METADATA_LIST } : {}
      const path = collectionPath(resource, page.namespace)
      const answer = await transport.send({ asked, method: 'GET', path, query, ...accept, ...options })
      return answer.ok ? parsePage(answer.value.text, resource, asked) : answer
    },

    async watch(resource, options) {
      const { resourceVersion, timeoutSeconds, signal, metadataOnly } = options
      const asked = askedOf('watch', resource, options)
      const query = { ...selectionQuery(options), watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds }
      const accept = metadataOnly === true ? { accept: METADATA } : {}
      const path = collectionPath(resource, options.namespace)
      const answer = await transport.open({ asked, method: 'GET', path, query, signal, ...accept })
      return answer.ok ? { ok: true, value: eventsOf(answer.value, asked, resource, signal) } : answer
    },

    apply: (resource, object, { force }, options) => sendObject({ ...applyTo(resource, object, force), ...options }),
    applyStatus: (resource, object, options) => sendObject({ ...applyTo(resource, object, true, 'status'), ...options }),

    create: (resource, object, options) =>
      sendObject({
        asked: askedOf('create', resource, object.metadata),
        method: 'POST',
        path: collectionPath(resource, object.metadata.namespace),
        query: { fieldManager: OPERATOR_NAME },
        body: object,
        ...options,
      }),

    replace: (resource, object, options) =>
      sendObject({
        asked: askedOf('update', resource, object.metadata),
        method: 'PUT',
        path: objectPath(resource, object.metadata),
        query: { fieldManager: OPERATOR_NAME },
        body: object,
        ...options,
      }),

    async delete(resource, name, preconditions, options) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions }
      const asked = askedOf('delete', resource, name)
      const answer = await transport.send({ asked, method: 'DELETE', path: objectPath(resource, name), body, ...options })
      return answer.ok || answer.failure.status === 404 ? { ok: true, value: undefined } : answer
    },

    discover: createDiscovery(transport),
    close: transport.close,
  }
}

function askedOf(verb: Verb, resource: Resource, where: Partial<ObjectName>, subresource?: string): Asked {
  const name = qualifiedName(resource)
  return {
    verb,
    resource: subresource === undefined ? name : `${name}/${subresource}`,
    ...(resource.namespaced && where.namespace !== undefined && { namespace: where.namespace }),
    ...(where.name !== undefined && { name: where.name }),
  }
}

function selectionQuery({ labelSelector, fieldSelector }: Selection) {
  return { labelSelector, fieldSelector }
}

async function* eventsOf(
  bytes: AsyncIterable<Uint8Array>,
  asked: Asked,
  resource: Resource,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  try {
    yield* readWatchEvents(bytes, asked, object => withKind(object, resource))
  } catch (error) {
    if (!signal.aborted)
      yield { type: 'ERROR', failure: noAnswer(NO_ANSWER.unreachable, `the stream broke: ${describeError(error)}`, asked) }
  }
}

/** Items of a list lack their kind, and metadata alone names itself `PartialObjectMetadata`. */
function withKind(object: KubernetesObject, resource: Resource): KubernetesObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }
}

interface ListBody {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly KubernetesObject[] | null
}

function parsePage(text: string, resource: Resource, asked: Asked): ApiAnswer<ObjectPage> {
  const parsed = parseBody<ListBody>(text, asked)
  if (!parsed.ok) return parsed
  const { metadata, items } = parsed.value
  if (metadata?.resourceVersion === undefined) return { ok: false, failure: noAnswer(NO_ANSWER.unreadable, 'the answer is no list', asked) }
  return {
    ok: true,
    value: {
      items: (items ?? []).map(item => withKind(item, resource)),
      resourceVersion: metadata.resourceVersion,
      ...(metadata.continue && { continue: metadata.continue }),
    },
  }
}
