/** An OpenID Connect issuer on 127.0.0.1 that answers refresh tokens: over TLS, with an authority of its own. Needs openssl. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export interface StubIssuer {
  readonly url: string
  /** PEM. */
  readonly ca: string
  /** The forms of all requests for tokens, with the header `authorization`. */
  readonly asked: readonly URLSearchParams[]
  /** The answer to the next requests: a token of so many seconds with that refresh token, a refusal, or nothing at all. */
  answer: { readonly seconds: number; readonly refreshToken?: string } | { readonly error: string } | 'silence'
  stop(): Promise<void>
}

/** With a signature of nobody: clients trust what the issuer itself hands them over TLS. */
export function idToken(issuer: string, seconds: number, subject = 'jane'): string {
  const nowS = Math.floor(Date.now() / 1000)
  const parts = [{ alg: 'RS256' }, { iss: issuer, aud: 'kubernetes', sub: subject, iat: nowS - 3600, exp: nowS + seconds }]
  return [...parts.map(part => Buffer.from(JSON.stringify(part)).toString('base64url')), 'c2lnbmF0dXJl'].join('.')
}

export async function startStubIssuer(): Promise<StubIssuer> {
  const { key, cert } = makeCertificate()
  const asked: URLSearchParams[] = []
  const server = createServer({ key, cert }, async (request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/.well-known/openid-configuration') return send(200, { issuer: stub.url, token_endpoint: `${stub.url}/token` })
    const form = new URLSearchParams(await text(request))
    if (request.headers.authorization !== undefined) form.set('authorization', request.headers.authorization)
    asked.push(form)
    const { answer } = stub
    if (answer === 'silence') return
    if ('error' in answer) return send(400, { error: answer.error, error_description: 'the refresh token is unknown' })
    const { seconds, refreshToken } = answer
    const subject = `jane-${asked.length}`
    const token = { access_token: 'a', token_type: 'bearer', expires_in: seconds, id_token: idToken(stub.url, seconds, subject) }
    return send(200, { ...token, ...(refreshToken !== undefined && { refresh_token: refreshToken }) })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const stub: StubIssuer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: cert,
    asked,
    answer: { seconds: 600 },
    stop() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
  return stub
}

function makeCertificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'stub-issuer-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=issuer', '-addext', 'subjectAltName=IP:127.0.0.1']
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', ...subject]
  try {
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
