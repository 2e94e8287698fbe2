/** Who may use the dashboard: one user with a password, pages of its own (Decisions 7). */
import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { type DashboardFixture, startDashboardFixture } from './testing/dashboard-fixture.ts'

describe('a dashboard', () => {
  let dashboard: DashboardFixture
  before(async () => {
    dashboard = await startDashboardFixture({ publicUrl: 'https://logs.example.com' })
  })
  after(() => dashboard.stop())

  /** By Node's client, since `fetch` sets these headers itself. */
  const statusOf = (method: string, headers: Record<string, string>, path = '/api/bridge/config') =>
    new Promise<number>((resolve, reject) => {
      const sent = httpRequest(dashboard.url + path, { method, headers }, response => {
        response.resume()
        resolve(response.statusCode!)
      })
      sent.on('error', reject).end()
    })

  const own = () => `127.0.0.1:${dashboard.port}`
  for (const { title, headers, method = 'PATCH', status } of [
    { title: 'a client that is no browser', headers: () => ({}), status: 200 },
    { title: 'a page of its own', headers: () => ({ origin: `http://${own()}`, 'sec-fetch-site': 'same-origin' }), status: 200 },
    { title: 'a page under PUBLIC_URL', headers: () => ({ origin: 'https://logs.example.com', host: 'logs.example.com' }), status: 200 },
    {
      title: 'a page under PUBLIC_URL, behind a proxy that keeps no host',
      headers: () => ({ origin: 'https://logs.example.com' }),
      status: 200,
    },
    { title: 'a page of another site', headers: () => ({ origin: 'https://evil.example' }), status: 403 },
    { title: 'a page of another port', headers: () => ({ origin: 'http://127.0.0.1:1' }), status: 403 },
    { title: 'a page without an origin', headers: () => ({ origin: 'null' }), status: 403 },
    { title: 'another site, without saying which', headers: () => ({ 'sec-fetch-site': 'cross-site' }), status: 403 },
    { title: 'another site, which only reads', method: 'GET', headers: () => ({ origin: 'https://evil.example' }), status: 200 },
    { title: 'a name that leads to this machine', method: 'GET', headers: () => ({ host: 'evil.example:3000' }), status: 403 },
    { title: 'localhost', method: 'GET', headers: () => ({ host: 'localhost:3000' }), status: 200 },
  ])
    it(`answers ${status} to ${method} from ${title}`, async () => expect(await statusOf(method, headers())).to.equal(status))

  it('lets no other site read its answers, nor show them in a frame', async () => {
    const page = await fetch(`${dashboard.url}/`)
    const answer = await fetch(`${dashboard.url}/api/bridge/health`, { headers: { origin: 'https://evil.example' } })
    for (const { headers } of [page, answer, await fetch(`${dashboard.url}/api/nothing`)]) {
      expect(headers.get('content-security-policy')).to.contain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).to.equal('nosniff')
      expect(headers.get('referrer-policy')).to.equal('no-referrer')
      expect(headers.get('access-control-allow-origin')).to.equal(null)
    }
    expect(page.headers.get('content-security-policy')).to.contain("script-src 'self';")
  })
})

describe('a dashboard with a password', () => {
  let dashboard: DashboardFixture
  let clock: FakeClock
  beforeEach(async () => {
    clock = createFakeClock()
    dashboard = await startDashboardFixture({ clock, credentials: { username: 'admin', password: 'päss:word' } })
  })
  afterEach(() => dashboard.stop())

  const ask = (path: string, credentials?: string) =>
    fetch(dashboard.url + path, {
      headers: credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    })

  for (const path of ['/', '/api/bridge/health', '/api/upload', '/api/admin/api-keys', '/start.js'])
    it(`asks for it on ${path}`, async () => {
      const answer = await ask(path)
      expect(answer.status).to.equal(401)
      expect(answer.headers.get('www-authenticate')).to.match(/^Basic /)
      expect(await answer.json()).to.include({ status: 401 })
      expect(dashboard.asked).to.deep.equal([])
    })

  it('lets the user in, and nobody else', async () => {
    expect((await ask('/api/bridge/health', 'admin:päss:word')).status).to.equal(200)
    for (const wrong of ['admin:päss', 'root:päss:word', ':', 'admin', ''])
      expect((await ask('/api/bridge/health', wrong)).status).to.equal(401)
  })

  it('does not ask probes and scrapers', async () => {
    expect((await ask('/health')).status).to.equal(200)
    expect((await ask('/metrics')).status).to.equal(200)
  })

  it('takes ten wrong ones in a minute', async () => {
    for (let i = 0; i < 10; i++) expect((await ask('/', 'admin:wrong')).status).to.equal(401)
    const refused = await ask('/', 'admin:päss:word')
    expect(refused.status).to.equal(429)
    expect(refused.headers.get('retry-after')).to.equal('60')
    clock.advance(60_000)
    expect((await ask('/', 'admin:päss:word')).status).to.equal(200)
  })
})
