import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createHttpKubeClient } from './http-client.ts'

/** A server that has no aggregated discovery. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'apps', versions: [{ version: 'v1' }] },
      { name: 'external-secrets.io', versions: [{ version: 'v1beta1' }, { version: 'gone' }] },
    ],
  },
  '/apis/external-secrets.io/v1beta1': {
    kind: 'APIResourceList',
    resources: [
      { name: 'externalsecrets', kind: 'ExternalSecret', namespaced: true },
      { name: 'externalsecrets/status', kind: 'ExternalSecret', namespaced: true },
      { name: 'clustersecretstores', kind: 'ClusterSecretStore', namespaced: false },
    ],
  },
}

describe('Discovery', () => {
  let server: Server | undefined
  afterEach(() => void server?.close())

  const clientOf = async (answers: Readonly<Record<string, unknown>>) => {
    const asked: string[] = []
    server = createServer((request, response) => {
      asked.push(request.url!)
      const body = answers[request.url!]
      response
        .writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json', connection: 'close' })
        .end(JSON.stringify(body))
    })
    await new Promise<void>(resolve => server!.listen(0, '127.0.0.1', resolve))
    const access = {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      tls: { insecure: false },
      auth: {},
      namespace: 'default',
    }
    const rateLimit = { take: async () => {} }
    return { asked, client: createHttpKubeClient(access, { clock: createFakeClock(), rateLimit, userAgent: 'test' }) }
  }

  it('asks a server without aggregated discovery for the resources of the wanted groups', async () => {
    const { asked, client } = await clientOf(ANSWERS)
    expect(await client.discover({ groups: ['external-secrets.io', 'flink.apache.org'] })).to.deep.equal({
      ok: true,
      value: [
        { group: 'external-secrets.io', version: 'v1beta1', kind: 'ExternalSecret', plural: 'externalsecrets', namespaced: true },
        { group: 'external-secrets.io', version: 'v1beta1', kind: 'ClusterSecretStore', plural: 'clustersecretstores', namespaced: false },
      ],
    })
    expect(asked).to.deep.equal(['/apis', '/apis/external-secrets.io/v1beta1', '/apis/external-secrets.io/gone'])
    await client.close()
  })

  it('says what it expected of an answer that is no discovery', async () => {
    const { client } = await clientOf({ '/apis': {} })
    const answer = await client.discover()
    expect(!answer.ok && answer.failure.message).to.equal('cannot get apis /apis: expected an APIGroupDiscoveryList or an APIGroupList')
    await client.close()
  })
})
