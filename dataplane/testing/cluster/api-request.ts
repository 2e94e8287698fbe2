/** One request to an API server as the administrator of a kubeconfig: cheap enough to be asked again and again. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { parse } from 'yaml'
import type { ClusterObject } from './kubectl.ts'

export type ApiRequest = (method: string, path: string, body?: object, contentType?: string) => Promise<ClusterObject>

/** The API server said no. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number
  /** Its reason in words. */
  readonly said: string

  constructor(asked: string, status: number, answer: string) {
    super(`${asked}: ${status} ${answer}`)
    this.status = status
    this.said = answer.startsWith('{') ? JSON.parse(answer).message : answer
  }
}

const LIMIT_MS = 10_000
const PATCH_TYPE = 'application/strategic-merge-patch+json'

/** Rejects with `ApiRefusal`, or with what kept the server from answering. */
export function createApiRequest(kubeconfig: string): ApiRequest {
  const config = parse(readFileSync(kubeconfig, 'utf8'))
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster
  const { 'client-certificate-data': cert, 'client-key-data': key } = config.users[0].user
  const agent = new Agent({ keepAlive: true, ca: decode(ca), cert: decode(cert), key: decode(key) })
  return (method, path, body, contentType = method === 'PATCH' ? PATCH_TYPE : 'application/json') =>
    new Promise((done, fail) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }
      const sent = request(`${server}${path}`, { method, agent, headers, timeout: LIMIT_MS }, answer => {
        const chunks: Buffer[] = []
        answer.on('error', fail)
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('end', () => {
          const answered = Buffer.concat(chunks).toString()
          if (answer.statusCode! < 300) done(JSON.parse(answered))
          else fail(new ApiRefusal(`${method} ${path}`, answer.statusCode!, answered))
        })
      })
      sent.on('error', fail)
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer`)))
      sent.end(text)
    })
}

const decode = (text: string) => Buffer.from(text, 'base64')
