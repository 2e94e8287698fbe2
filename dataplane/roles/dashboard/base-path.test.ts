/** A dashboard below a path of a host that others share: `PUBLIC_URL` names it, a proxy in front keeps it or takes it away. */
import { resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Log, SILENT } from '../../telemetry/log.ts'
import { openSite } from './site/site.ts'
import { type DashboardFixture, startDashboardFixture } from './testing/dashboard-fixture.ts'

const HTML = { accept: 'text/html' }
const PASSWORD = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` }

describe('a dashboard whose PUBLIC_URL has a path of its own', () => {
  for (const [path, isSaid] of [
    ['/api', true],
    ['/api/bridge/', true],
    ['/health', true],
    ['/login', true],
    ['/logs', false],
    ['/apis', false],
    ['/', false],
  ] as const)
    it(`${isSaid ? 'warns of' : 'takes'} ${path}`, async () => {
      const said: unknown[] = []
      const log = { ...SILENT, warn: (fields: object, message: string) => void said.push(fields, message) } as Log
      const publicUrl = `https://ops.example.com${path}`
      await (await startDashboardFixture({ publicUrl, log })).stop()
      expect(said.length > 0).to.equal(isSaid)
      if (isSaid) expect(said).to.deep.include({ PUBLIC_URL: publicUrl })
    })
})

describe('a dashboard below a path', () => {
  let dashboard: DashboardFixture
  before(async () => {
    dashboard = await startDashboardFixture({
      publicUrl: 'https://ops.example.com/logs/',
      credentials: { username: 'ada', password: 'secret' },
      site: openSite([resolve(import.meta.dirname, 'site/not-built')], { basePath: '/logs' }),
    })
  })
  after(() => dashboard.stop())

  const get = (path: string, headers: Record<string, string> = PASSWORD) => fetch(dashboard.url + path, { headers, redirect: 'manual' })

  for (const [proxy, base] of [
    ['keeps the path', '/logs'],
    ['takes the path away', ''],
  ] as const)
    describe(`behind a proxy that ${proxy}`, () => {
      it('has pages whose files lie below the path', async () => {
        for (const path of ['/', '/incidents/42', '/logs']) {
          const page = await (await get(base + path, { ...HTML, ...PASSWORD })).text()
          expect(page, path).to.contain('href="/logs/not-built.css"')
        }
        expect((await get(`${base}/not-built.css`)).status).to.equal(200)
      })

      it('has the services and paths of its own', async () => {
        expect((await get(`${base}/api/bridge/config?a=1`)).status).to.equal(200)
        expect(dashboard.asked.at(-1)).to.include({ service: 'bridge', url: '/config?a=1' })
        expect(await (await get(`${base}/api/session`)).json()).to.deep.equal({ username: 'ada' })
        expect((await get(`${base}/health`, {})).status).to.equal(200)
        expect((await get(`${base}/api/none`)).status).to.equal(404)
      })

      it('asks for the password on a page below the path, and leads back to where one was', async () => {
        const asked = await get(`${base}/incidents/42?tenant=acme`, HTML)
        expect(asked.status).to.equal(303)
        const location = asked.headers.get('location')!
        expect(location).to.equal(`/logs/login?${new URLSearchParams({ next: '/logs/incidents/42?tenant=acme' })}`)
        const form = await (await get(base + location.slice('/logs'.length), HTML)).text()
        expect(form).to.contain('action="/logs/login"').and.contain('value="/logs/incidents/42?tenant=acme"')
        const body = new URLSearchParams({ username: 'ada', password: 'secret' })
        const done = await fetch(`${dashboard.url}${base}/login`, { method: 'POST', body, redirect: 'manual' })
        expect([done.status, done.headers.get('location')]).to.deep.equal([303, '/logs/'])
        const cookie = done.headers.get('set-cookie')!.split(';')[0]!
        const over = await fetch(`${dashboard.url}${base}/logout`, { method: 'POST', headers: { cookie }, redirect: 'manual' })
        expect(over.headers.get('location')).to.equal('/logs/login')
      })
    })
})
