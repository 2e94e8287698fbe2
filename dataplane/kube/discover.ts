/** Asks which kinds the API server has, and remembers the last answer. */
import type { ApiAnswer, Asked } from './api-failure.ts'
import { ACCEPT_DISCOVERY, type GroupVersion, type ResourceListBody, readDiscovery, readResourceList } from './discovery.ts'
import type { ApiTransport } from './http-transport.ts'
import type { KubeClient, RequestOptions } from './kube-client.ts'
import { parseBody } from './parse-body.ts'
import type { Resource } from './resource.ts'

export function createDiscovery(transport: Pick<ApiTransport, 'send'>): KubeClient['discover'] {
  let discovered: { readonly etag: string | undefined; readonly resources: readonly Resource[] } | undefined
  return async ({ groups, ...options } = {}) => {
    const asked: Asked = { verb: 'get', resource: 'apis', name: '/apis' }
    const tag = discovered?.etag === undefined ? {} : { ifNoneMatch: discovered.etag }
    const answer = await transport.send({ asked, method: 'GET', path: '/apis', accept: ACCEPT_DISCOVERY, ...tag, ...options })
    if (!answer.ok) return answer
    if (answer.value.status === 304 && discovered !== undefined) return { ok: true, value: discovered.resources }
    const body = parseBody<object>(answer.value.text, asked)
    const found = body.ok ? readDiscovery(body.value, asked) : body
    if (!found.ok) return found
    if (found.value.resources === undefined) {
      const wanted = found.value.versions.filter(({ group }) => groups === undefined || groups.includes(group))
      return listResources(transport, wanted, options)
    }
    discovered = { etag: answer.value.etag, resources: found.value.resources }
    return { ok: true, value: found.value.resources }
  }
}

/** Group by group, from a server that does not tell of all in one answer. */
async function listResources(
  transport: Pick<ApiTransport, 'send'>,
  versions: readonly GroupVersion[],
  options: RequestOptions,
): Promise<ApiAnswer<readonly Resource[]>> {
  const resources: Resource[] = []
  for (const each of versions) {
    const path = `/apis/${each.group}/${each.version}`
    const asked: Asked = { verb: 'get', resource: 'apis', name: path }
    const answer = await transport.send({ asked, method: 'GET', path, ...options })
    // Removed since the groups were listed.
    if (!answer.ok && answer.failure.status === 404) continue
    const body = answer.ok ? parseBody<ResourceListBody>(answer.value.text, asked) : answer
    if (!body.ok) return body
    resources.push(...readResourceList(body.value, each))
  }
  return { ok: true, value: resources }
}
