/** The gateway of a LogPipeline as a client outside of the cluster calls it: through a forwarded port, with a certificate that it trusts. */
import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { makeSelfSigned } from '../../../dataplane/roles/gateway/tls/self-signed.ts'
import type { PipelineView } from './pipeline-view.ts'

/** Name under which the client thinks it calls. */
const HOST = 'ingest.shop.example'

export interface GatewayCertificate {
  readonly cert: string
  readonly key: string
}

export interface GatewayAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
  readonly body: any
  /** Serial number of the certificate that was served. */
  readonly serialNumber: string
}

export interface GatewayClient {
  /** Rejects when the gateway serves another certificate than the one given. */
  call(path: string, key: string | undefined, body?: object): Promise<GatewayAnswer>
  /** Sends one record in OTLP JSON. */
  send(key: string, message: string): Promise<GatewayAnswer>
  /** Messages of the records with that word that the key shows. */
  messages(key: string, word: string): Promise<readonly string[]>
}

/** Self-signed, so that it is its own authority. */
export function makeCertificate(): GatewayCertificate {
  const [nowMs, dayMs] = [Date.now(), 86_400_000]
  return makeSelfSigned({ commonName: HOST, hosts: [HOST], notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + 365 * dayMs })
}

export const serialNumberOf = ({ cert }: GatewayCertificate) => new X509Certificate(cert).serialNumber

export const tlsSecret = (metadata: object, { cert, key }: GatewayCertificate) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls' },
  stringData: { 'tls.crt': cert, 'tls.key': key },
})

export function createGatewayClient(view: PipelineView, { cert: ca }: GatewayCertificate): GatewayClient {
  const callAt = (url: string, path: string, key: string | undefined, body: object | undefined) =>
    new Promise<GatewayAnswer>((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        ...(key !== undefined && { 'x-service-api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      }
      const { hostname, port } = new URL(url)
      const options = { hostname, port, path, ca, servername: HOST, headers, method: body === undefined ? 'GET' : 'POST', agent: false }
      const sent = request(options, async response => {
        const { serialNumber } = (response.socket as TLSSocket).getPeerX509Certificate()!
        let received = ''
        for await (const piece of response) received += piece
        resolve({ status: response.statusCode!, body: JSON.parse(received), serialNumber })
      })
      sent.on('error', reject)
      sent.end(text)
    })
  const call: GatewayClient['call'] = (path, key, body) => view.at('gateway', 8443, url => callAt(url, path, key, body))
  return {
    call,
    send(key, message) {
      const logRecords = [{ severityText: 'INFO', body: { stringValue: message } }]
      return call('/v1/logs', key, { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
    },
    async messages(key, word) {
      const { status, body } = await call('/api/search/service-logs-*/_search', key, { query: { match: { message: word } } })
      if (status !== 200) throw new Error(`search: ${status} ${JSON.stringify(body)}`)
      return body.hits.hits.map((hit: { readonly _source: { readonly message: string } }) => hit._source.message)
    },
  }
}
