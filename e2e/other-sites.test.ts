/** Pages of other sites in a browser on the machine of a standalone: they change nothing, at no port. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, skipWithoutChromium } from '../dataplane/console/testing/open-console.ts'
import { type Standalone, startStandalone } from './testing/standalone-process.ts'

/** A name whose domain server belongs to somebody else, who has it lead to this machine. */
const NAME = 'evil.example'

interface Deed {
  readonly door: 'bridge' | 'ticketing' | 'features' | 'scheduler' | 'agent' | 'search' | 'collector' | 'dashboard'
  readonly method: string
  readonly path: string
  readonly body: unknown
}

const LOGS = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'from a page' } }] }] }] }
const SILENCE = { services: ['*'], from: '2026-11-28T00:00:00Z', to: '2026-11-29T00:00:00Z', reason: 'from a page' }
const DEEDS: readonly Deed[] = [
  { door: 'bridge', method: 'PATCH', path: '/config', body: { windowSize: 77 } },
  { door: 'ticketing', method: 'POST', path: '/api/v1/silences', body: SILENCE },
  { door: 'features', method: 'POST', path: '/push', body: {} },
  { door: 'scheduler', method: 'PATCH', path: '/api/v1/dags/feature_compute', body: { is_paused: true } },
  { door: 'agent', method: 'POST', path: '/dead-letters/replay', body: {} },
  { door: 'search', method: 'PUT', path: '/from-a-page', body: {} },
  { door: 'search', method: 'POST', path: '/from-a-page/_doc', body: {} },
  { door: 'collector', method: 'POST', path: '/v1/logs', body: LOGS },
  { door: 'dashboard', method: 'PATCH', path: '/api/bridge/config', body: { windowSize: 77 } },
]

describe('a page of another site', function () {
  this.timeout(90_000)
  let app: Standalone
  let browser: Browser
  let page: Page
  before(async function () {
    skipWithoutChromium(this)
    app = await startStandalone()
    browser = await launchChromium([`--host-resolver-rules=MAP ${NAME} 127.0.0.1`])
    page = await browser.newPage()
  })
  after(async () => {
    await browser?.close()
    await app?.remove()
  })

  /** The address of a door under the name. */
  const led = (door: Deed['door']) => app[door].replace('127.0.0.1', NAME)
  /** Does it as the page that is open, `plain` in a way that needs nobody's leave; gives the status where the page may see it. */
  const doAsPage = ({ method, path, body }: Deed, to: string, how: 'plain' | 'whole' = 'whole') =>
    page.evaluate(
      async ([url, sent, host, isPlain]) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-host': host }
        const init: RequestInit = isPlain
          ? { method: 'POST', mode: 'no-cors', body: new Blob([sent.body]) }
          : { method: sent.method, headers, body: sent.body }
        return fetch(url, init).then(
          ({ status, type }) => (type === 'opaque' ? type : status),
          () => 'kept back',
        )
      },
      [to + path, { method, body: JSON.stringify(body) }, new URL(page.url()).host, how === 'plain'] as const,
    )
  const seenBy = async (address: string) => (await fetch(address)).json()

  for (const deed of DEEDS)
    it(`under a name that leads here is refused: ${deed.method} ${deed.path} of the ${deed.door}`, async () => {
      await page.goto(`${led(deed.door)}/health`)
      expect(await doAsPage(deed, led(deed.door))).to.equal(403)
    })

  it('elsewhere gets nothing through, as a form or by a script', async () => {
    await page.goto(`${led('bridge')}/health`)
    for (const deed of DEEDS) {
      expect(await doAsPage(deed, app[deed.door]), deed.path).to.equal('kept back')
      const sent = await doAsPage(deed, app[deed.door], 'plain')
      expect(sent, deed.path).to.equal(deed.door === 'dashboard' ? 'kept back' : 'opaque')
    }
  })

  it('leaves all as it was, and each of these requests counts from a program', async () => {
    const config = `${app.bridge}/config`
    expect(await seenBy(config)).to.include({ windowSize: 50 })
    expect(await seenBy(`${app.ticketing}/api/v1/silences`)).to.deep.equal([])
    expect(await seenBy(`${app.scheduler}/api/v1/dags/feature_compute`)).to.include({ is_paused: false })
    expect((await fetch(`${app.search}/from-a-page`)).status).to.equal(404)
    expect(await seenBy(`${app.search}/service-logs-*/_count`)).to.include({ count: 0 })
    for (const { door, method, path, body } of DEEDS) {
      const headers = { 'content-type': 'application/json' }
      const { status } = await fetch(app[door] + path, { method, headers, body: JSON.stringify(body) })
      expect(status, path).to.not.be.oneOf([403, 404, 405])
    }
    expect(await seenBy(config)).to.include({ windowSize: 77 })
  })
})
