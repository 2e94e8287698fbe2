/** Access to the dashboard: one user with a password, pages of its own (Decisions 7). */
import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { route } from '../../http/route.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { type DashboardFixture, startDashboardFixture, textOf } from './testing/dashboard-fixture.ts'

describe('a dashboard', () => {
  let dashboard: DashboardFixture
  before(async () => {
    const routes = [route({ method: 'POST', path: '/api/things', handle: () => ({ status: 201, body: {} }) })]
    dashboard = await startDashboardFixture({ publicUrl: 'https://logs.example.com', routes })
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
  for (const { title, headers, method = 'PATCH', path, status } of [
    { title: 'a client that is no browser', headers: () => ({}), status: 200 },
    {
      title: 'a page of its own behind a proxy that changes the host',
      headers: () => ({ origin: 'https://logs.example', 'sec-fetch-site': 'same-origin' }),
      status: 200,
    },
    { title: 'a page of its own', headers: () => ({ origin: `http://${own()}`, 'sec-fetch-site': 'same-origin' }), status: 200 },
    { title: 'a page under PUBLIC_URL', headers: () => ({ origin: 'https://logs.example.com', host: 'logs.example.com' }), status: 200 },
    {
      title: 'a page under PUBLIC_URL, behind a proxy that keeps no host',
      headers: () => ({ origin: 'https://logs.example.com' }),
      status: 200,
    },
    {
      title: 'such a page, for a path of the dashboard itself',
      method: 'POST',
      path: '/api/things',
      headers: () => ({ origin: 'https://logs.example.com' }),
      status: 201,
    },
    { title: 'a page of another site', headers: () => ({ origin: 'https://evil.example' }), status: 403 },
    {
      title: 'a page of another site, for a path of the dashboard itself',
      method: 'POST',
      path: '/api/things',
      headers: () => ({ origin: 'https://evil.example' }),
      status: 403,
    },
    {
      title: 'a page of another site that a browser calls none',
      headers: () => ({ origin: 'https://evil.example', 'sec-fetch-site': 'none' }),
      status: 403,
    },
    {
      title: 'a page of another site with a host that it made up',
      headers: () => ({ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }),
      status: 403,
    },
    { title: 'a page of another port', headers: () => ({ origin: 'http://127.0.0.1:1' }), status: 403 },
    { title: 'a page without an origin', headers: () => ({ origin: 'null' }), status: 403 },
    { title: 'a page without an origin on another site', headers: () => ({ origin: 'null', 'sec-fetch-site': 'cross-site' }), status: 403 },
    {
      title: 'a form of its own, by a browser that hides origins',
      headers: () => ({ origin: 'null', 'sec-fetch-site': 'same-origin' }),
      status: 200,
    },
    { title: 'another site, without saying which', headers: () => ({ 'sec-fetch-site': 'cross-site' }), status: 403 },
    { title: 'another site, which only reads', method: 'GET', headers: () => ({ origin: 'https://evil.example' }), status: 200 },
    { title: 'a name that leads to this machine', method: 'GET', headers: () => ({ host: 'evil.example:3000' }), status: 403 },
    { title: 'localhost', method: 'GET', headers: () => ({ host: 'localhost:3000' }), status: 200 },
  ])
    it(`answers ${status} to ${method} from ${title}`, async () => expect(await statusOf(method, headers(), path)).to.equal(status))

  it('lets no other site read its answers, nor show them in a frame', async () => {
    const page = await fetch(`${dashboard.url}/`)
    const answer = await fetch(`${dashboard.url}/api/bridge/health`, { headers: { origin: 'https://evil.example' } })
    for (const { headers } of [page, answer, await fetch(`${dashboard.url}/api/nothing`)]) {
      expect(headers.get('content-security-policy')).to.contain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).to.equal('nosniff')
      expect(headers.get('referrer-policy')).to.equal('same-origin')
      expect(headers.get('access-control-allow-origin')).to.equal(null)
    }
    expect(page.headers.get('content-security-policy')).to.contain("script-src 'self';")
  })
})

describe('answers of a dashboard', () => {
  let dashboard: DashboardFixture
  before(async () => {
    dashboard = await startDashboardFixture()
  })
  after(() => dashboard.stop())

  for (const path of ['/api/bridge/health', '/api/admin/api-keys', '/api/nothing'])
    it(`are kept by no cache: ${path}`, async () =>
      expect((await fetch(dashboard.url + path)).headers.get('cache-control')).to.equal('no-store'))
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

  it('reads a header of nothing but space in no time', async () => {
    const startMs = performance.now()
    const headers = { authorization: `Basic ${' '.repeat(15_000)}!` }
    for (let n = 0; n < 10; n++) expect((await fetch(dashboard.url, { headers })).status).to.equal(401)
    expect(performance.now() - startMs).to.be.below(1_000)
  })

  it('lets the user in, and nobody else', async () => {
    expect((await ask('/api/bridge/health', 'admin:päss:word')).status).to.equal(200)
    for (const wrong of ['admin:päss', 'root:päss:word', ':', 'admin', ''])
      expect((await ask('/api/bridge/health', wrong)).status).to.equal(401)
  })

  const page = { accept: 'text/html,*/*' }
  const get = (path: string, headers: Record<string, string> = page) => fetch(dashboard.url + path, { headers, redirect: 'manual' })
  const logIn = (fields: Record<string, string>) =>
    fetch(`${dashboard.url}/login`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  const RIGHT = { username: 'admin', password: 'päss:word' }
  const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!

  it('leads a browser to a form', async () => {
    const answer = await get('/logs?q=a')
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/login?next=%2Flogs%3Fq%3Da'])
    const form = await get(answer.headers.get('location')!)
    expect([form.status, form.headers.get('cache-control')]).to.deep.equal([200, 'no-store'])
    const html = await form.text()
    expect(html).to.contain('name="next" value="/logs?q=a"').and.to.not.contain('<script')
  })

  it('asks a page of the console that wants data by no window of the browser', async () => {
    const answer = await get('/api/bridge/health', { 'sec-fetch-site': 'same-origin' })
    expect([answer.status, answer.headers.get('www-authenticate')]).to.deep.equal([401, null])
  })

  it('opens a session with the right password, which no script and no other site gets', async () => {
    const answer = await logIn({ ...RIGHT, next: '/logs?q=a' })
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([303, '/logs?q=a'])
    expect(answer.headers.get('set-cookie')).to.match(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
    expect((await get('/api/bridge/health', { cookie: `a=b; ${cookieOf(answer)}` })).status).to.equal(200)
    clock.advance(7 * 24 * 3_600_000)
    expect((await get('/api/bridge/health', { cookie: cookieOf(answer) })).status).to.equal(401)
  })

  it('takes no session that it did not open', async () => {
    const cookie = cookieOf(await logIn(RIGHT))
    const [name, value = ''] = cookie.split('=')
    const [end, number, proof] = value.split('.')
    for (const forged of ['', 'x', `${Number(end) + 1}.${number}.${proof}`, `${end}.${number}.${'A'.repeat(43)}`, `${end}.${number}`])
      expect((await get('/api/bridge/health', { cookie: `${name}=${forged}` })).status).to.equal(401)
    const other = await startDashboardFixture({ clock, credentials: { username: 'admin', password: 'new' } })
    const answer = await fetch(`${other.url}/api/bridge/health`, { headers: { cookie } })
    await other.stop()
    expect(answer.status).to.equal(401)
  })

  it('tells who is logged in, and when that was, to nobody else', async () => {
    expect((await get('/api/session')).status).to.equal(401)
    const answer = await get('/api/session', { cookie: cookieOf(await logIn(RIGHT)) })
    expect(await answer.json()).to.deep.equal({ username: 'admin' })
    expect(answer.headers.get('cache-control')).to.equal('no-store')
    // The console takes its time from here.
    expect(Date.parse(answer.headers.get('date')!)).to.be.closeTo(Date.now(), 60_000)
    const open = await startDashboardFixture()
    const session = await (await fetch(`${open.url}/api/session`)).json()
    await open.stop()
    expect(session).to.deep.equal({ username: null })
  })

  it('ends a session by /logout', async () => {
    const cookie = cookieOf(await logIn(RIGHT))
    const answer = await fetch(`${dashboard.url}/logout`, { method: 'POST', headers: { cookie }, redirect: 'manual' })
    expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([
      303,
      'logpipeline_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ])
    expect((await get('/api/bridge/health', { cookie })).status).to.equal(401)
  })

  it('shows the form again for a wrong password, and counts it', async () => {
    for (let i = 0; i < 10; i++) expect((await logIn({ ...RIGHT, password: 'wrong' })).status).to.equal(401)
    const answer = await logIn(RIGHT)
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('set-cookie')]).to.deep.equal([429, '60', null])
    expect(await answer.text()).to.contain('role="alert"')
  })

  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\r\nb: c', 'javascript:1', ''])
    it(`leads to no other site: ${JSON.stringify(next)}`, async () => {
      expect((await logIn({ ...RIGHT, next })).headers.get('location')).to.equal('/')
    })

  it('writes nothing of a request into the form as it is', async () => {
    const html = await (await get('/login?next=/%22%3E%3Cscript%3E')).text()
    expect(html).to.not.contain('"><script')
  })

  it('takes no password from another site, nor one in another form', async () => {
    const answer = await fetch(`${dashboard.url}/login`, {
      method: 'POST',
      body: new URLSearchParams(RIGHT),
      headers: { origin: 'https://evil.example' },
    })
    expect(answer.status).to.equal(403)
    const json = await fetch(`${dashboard.url}/login`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(json.status).to.equal(415)
    expect((await fetch(`${dashboard.url}/logout`)).status).to.equal(405)
  })

  it('lets a browser that comes from another site ask once more, as it kept its cookie back', async () => {
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { ...page, 'sec-fetch-site': 'cross-site' }
      const sent = httpRequest(`${dashboard.url}/logs`, { headers }, async response => {
        resolve({ status: response.statusCode!, text: await textOf(response) })
      })
      sent.on('error', reject).end()
    })
    expect(answer.status).to.equal(401)
    expect(answer.text).to.contain('http-equiv="refresh"')
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
