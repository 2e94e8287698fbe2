import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createCredentials } from './credentials.ts'
import { loadClusterAccess } from './find-access.ts'
import { eventually } from './testing/eventually.ts'
import { idToken, type StubIssuer, startStubIssuer } from './testing/stub-issuer.ts'

describe('A kubeconfig with auth-provider oidc', () => {
  let dir: string
  let issuer: StubIssuer
  /** The library reads the clock of the machine. */
  const realNow = Date.now
  let shiftMs = 0

  before(function () {
    dir = mkdtempSync(join(tmpdir(), 'oidc-'))
    try {
      execFileSync('openssl', ['version'], { stdio: 'ignore' })
    } catch {
      this.skip()
    }
  })
  after(() => rmSync(dir, { recursive: true }))
  beforeEach(async () => {
    shiftMs = 0
    Date.now = () => realNow() + shiftMs
    issuer = await startStubIssuer()
  })
  afterEach(async () => {
    Date.now = realNow
    await issuer?.stop()
  })

  const accessWith = (more: Readonly<Record<string, string>>) => {
    const config = {
      'client-id': 'kubernetes',
      'idp-issuer-url': issuer.url,
      'idp-certificate-authority-data': Buffer.from(issuer.ca).toString('base64'),
      ...more,
    }
    const path = join(dir, 'config')
    const user = { name: 'jane', user: { 'auth-provider': { name: 'oidc', config } } }
    const clusters = [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }]
    const contexts = [{ name: 'x', context: { cluster: 'c', user: 'jane' } }]
    writeFileSync(path, JSON.stringify({ 'current-context': 'x', clusters, contexts, users: [user] }))
    return loadClusterAccess({ KUBECONFIG: path })
  }
  const credentialsOf = (more: Readonly<Record<string, string>>, clock: Clock = { ...systemClock, nowMs: () => Date.now() }) =>
    createCredentials(accessWith(more).auth, clock)
  const failureOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: Error) => error.message,
    )
  const subjectOf = ({ authorization = '' }) => JSON.parse(Buffer.from(authorization.split('.')[1]!, 'base64url').toString()).sub as string

  it('shows its token while that lasts, and asks nobody', async () => {
    const token = idToken(issuer.url, 10)
    expect(await credentialsOf({ 'id-token': token }).current()).to.deep.equal({ authorization: `Bearer ${token}` })
    expect(issuer.asked).to.deep.equal([])
  })

  it('gets another token from the issuer once its own has ended, one for all requests', async () => {
    const credentials = credentialsOf({ 'id-token': idToken(issuer.url, -1), 'refresh-token': 'r0' })
    const shown = await Promise.all([credentials.current(), credentials.current()])
    expect([...shown, await credentials.current()].map(subjectOf)).to.deep.equal(['jane-1', 'jane-1', 'jane-1'])
    expect(issuer.asked.map(form => form.get('refresh_token'))).to.deep.equal(['r0'])
    expect(issuer.asked.map(form => form.get('client_id'))).to.deep.equal(['kubernetes'])
  })

  it('needs no token of its own where it has one with which the issuer hands some out', async () => {
    expect(subjectOf(await credentialsOf({ 'refresh-token': 'r0' }).current())).to.equal('jane-1')
  })

  it('uses the refresh token that the issuer gave last, or the old one again where it gave none', async () => {
    issuer.answer = { seconds: 600, refreshToken: 'r1' }
    const credentials = credentialsOf({ 'refresh-token': 'r0' })
    await credentials.current()
    issuer.answer = { seconds: 600 }
    for (const hours of [1, 2]) {
      shiftMs = hours * 3_600_000
      await credentials.current()
    }
    expect(issuer.asked.map(form => form.get('refresh_token'))).to.deep.equal(['r0', 'r1', 'r1'])
  })

  it('shows the secret of a client that has one', async () => {
    await credentialsOf({ 'refresh-token': 'r0', 'client-secret': 's' }).current()
    expect(issuer.asked[0]!.get('authorization')).to.equal(`Basic ${Buffer.from('kubernetes:s').toString('base64')}`)
  })

  it('trusts the authority of the issuer alone, and says why it could not ask', async () => {
    const other = await startStubIssuer()
    const refused = await failureOf(credentialsOf({ 'refresh-token': 'r0', 'idp-issuer-url': other.url }).current())
    await other.stop()
    expect(refused).to.match(/^kubeconfig: auth-provider oidc: .*self-signed certificate/)
  })

  it('says what the issuer said', async () => {
    issuer.answer = { error: 'invalid_grant' }
    const refused = await failureOf(credentialsOf({ 'refresh-token': 'r0' }).current())
    expect(refused).to.equal('kubeconfig: auth-provider oidc: the refresh token is unknown')
  })

  it('says what is missing when its token has ended', async () => {
    const ended = await failureOf(credentialsOf({ 'id-token': idToken(issuer.url, -1) }).current())
    expect(ended).to.match(/auth-provider oidc: id-token has ended: expected refresh-token, client-id and idp-issuer-url/)
  })

  it('waits no longer than 30 s for an issuer that is silent', async () => {
    issuer.answer = 'silence'
    const clock = createFakeClock(Date.now())
    const failure = failureOf(credentialsOf({ 'refresh-token': 'r0' }, clock).current())
    await eventually('the issuer is asked', () => issuer.asked.length > 0)
    clock.advance(30_000)
    expect(await failure).to.equal(`kubeconfig: auth-provider oidc: ${issuer.url} does not answer within 30 s`)
  })
})
