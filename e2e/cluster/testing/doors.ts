/** Duties of gateway and dashboard of a LogPipeline, in either mode. */
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { type Kubectl, until } from '../../../dataplane/testing/cluster/kubectl.ts'
import { createGatewayClient, type GatewayCertificate, makeCertificate, serialNumberOf, tlsSecret } from './gateway-client.ts'
import type { PipelineView } from './pipeline-view.ts'

export interface Doors {
  /** The pipeline's `spec.gateway`. */
  readonly gateway: object
  /** Makes the Secrets that it names. */
  makeSecrets(): Promise<void>
  /** A record that is sent with a key is found with keys of its tenant alone. */
  showRecordsToTheirTenantAlone(): Promise<void>
  showTheConsole(): Promise<void>
  /** Resolves once the gateway serves another certificate, which it has read again. */
  rotateCertificate(): Promise<void>
}

interface DoorsOf {
  readonly kubectl: Kubectl
  readonly namespace: string
  readonly view: PipelineView
}

const CERTIFICATE = 'gateway-tls'
const FIRST_KEY = 'first-key'
/** The kubelet looks at what it has mounted once a minute. */
const MOUNTED_AGAIN_MS = 150_000

export async function createDoors({ kubectl, namespace, view }: DoorsOf): Promise<Doors> {
  let certificate: GatewayCertificate = makeCertificate()
  const firstKey = `svc_proj_${randomBytes(32).toString('hex')}`
  const applyCertificate = () => kubectl.apply(tlsSecret({ name: CERTIFICATE, namespace }, certificate))
  const keyOfOther = () =>
    view.at('dashboard', 3_000, async url => {
      const headers = { 'content-type': 'application/json', 'x-service-tenant-id': 'another' }
      const answer = await fetch(`${url}/api/admin/api-keys`, { method: 'POST', headers, body: JSON.stringify({ name: 'theirs' }) })
      return ((await answer.json()) as { readonly key: string }).key
    })
  return {
    gateway: { tls: { secretName: CERTIFICATE }, bootstrapKey: { secret: { name: FIRST_KEY } } },
    async makeSecrets() {
      await applyCertificate()
      const key = { apiVersion: 'v1', kind: 'Secret', metadata: { name: FIRST_KEY, namespace }, stringData: { apiKey: firstKey } }
      await kubectl.apply(key)
    },
    async showRecordsToTheirTenantAlone() {
      const client = createGatewayClient(view, certificate)
      expect((await client.call('/health', undefined)).status).to.equal(401)
      const otherKey = await keyOfOther()
      for (const [key, message] of [[firstKey, 'ours behind the gateway'] as const, [otherKey, 'theirs behind the gateway'] as const]) {
        const sent = await until('the key is taken', async () => {
          const answer = await client.send(key, message)
          return answer.status === 200 ? answer : undefined
        })
        expect(sent.body).to.deep.equal({ partialSuccess: {} })
      }
      const shows = async (key: string) => (await client.messages(key, 'gateway')).join()
      await until('both are found', async () => (await shows(firstKey)) !== '' && (await shows(otherKey)) !== '')
      expect([await shows(firstKey), await shows(otherKey)]).to.deep.equal(['ours behind the gateway', 'theirs behind the gateway'])
    },
    async showTheConsole() {
      await view.at('dashboard', 3_000, async url => {
        const page = await fetch(url)
        expect([page.status, page.headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
        const health = (await (await fetch(`${url}/health`)).json()) as { readonly backends: Readonly<Record<string, unknown>> }
        for (const name of ['collector', 'bridge', 'ticketing', 'agent', 'search'])
          expect(health.backends[name], name).to.equal('connected')
      })
    },
    async rotateCertificate() {
      certificate = makeCertificate()
      await applyCertificate()
      const client = createGatewayClient(view, certificate)
      const isServed = async () => (await client.call('/health', firstKey)).serialNumber === serialNumberOf(certificate)
      await until('the new certificate is served', isServed, MOUNTED_AGAIN_MS)
    },
  }
}
