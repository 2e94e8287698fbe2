/** Hostile and unusual content of logs, in a browser: it is shown as text, and leaves the pages as they are. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { untilRead } from '../dataplane/console/testing/open-console.ts'
import { untilIncidents, useConsole } from './testing/console-suite.ts'
import type { Standalone } from './testing/standalone-process.ts'

const SCRIPT = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>'
const LONG_NAME = `service-${'x'.repeat(400)}`
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const LONG_NUMBER = '9007199254740993'
const WIDTHS = [400, 1_280]
const PAGES = [
  '/',
  '/logs',
  '/logs?mode=patterns',
  '/logs?mode=compare',
  `/logs?mode=trace&trace=${TRACE}`,
  '/incidents',
  '/settings/thresholds',
]
/** Whether a script of a record ran, how far the page is wider than the window, and names of services that lie over what stands beside them. */
const STATE = `(() => {
  const right = element => element.getBoundingClientRect().right
  const places = [...document.querySelectorAll('main [title^="service-x"]')].map(name => [name, name.closest('td, li, dd, [role=row]') ?? document.body])
  return {
    wasRun: window.wasRun,
    over: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
    covering: places.filter(([name, place]) => right(name) > right(place) + 1).map(([, place]) => place.outerHTML.slice(0, 200)),
  }
})()`
const FINE = { wasRun: undefined, over: 0, covering: [] }

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

async function fill(app: Standalone): Promise<void> {
  const startMs = Date.now() - 60_000
  const send = async (service: string, messages: readonly string[], attributes: readonly object[] = [], tenant = 'default') => {
    const logRecords = messages.map((message, i) => ({
      ...{ timeUnixNano: `${startMs + i}000000`, severityText: 'ERROR', traceId: TRACE, spanId: 'b7ad6b7169203331' },
      ...{ body: { stringValue: message }, attributes },
    }))
    const resource = { attributes: [text('service.name', service), text('host.name', service), text('tenant_id', tenant)] }
    const response = await fetch(`${app.collector}/v1/logs`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
    })
    expect(response.status).to.equal(200)
  }
  await send(SCRIPT, [`${SCRIPT} timeout`, `timeout ${SCRIPT}`, 'connection refused'], [text(SCRIPT, SCRIPT), text('a b', 'c d')])
  await send(LONG_NAME, ['connection refused', 'read timed out', `OutOfMemory ${'y'.repeat(5_000)}`])
  await send('orders', ['an order'], [{ key: 'order.id', value: { intValue: LONG_NUMBER } }])
  for (const tenant of ['acme', 'globex'])
    await send('billing', ['connection refused', 'read timed out', `OutOfMemory at ${tenant}`], [], tenant)
  await untilIncidents(app, [SCRIPT, LONG_NAME, 'billing'])
}

describe('content of logs in the console', function () {
  this.timeout(90_000)
  const at = useConsole({ fill })
  let page: Page

  for (const width of WIDTHS)
    it(`is text on every page, which is no wider than a window of ${width} pixels`, async () => {
      page = await at.open('/', { width })
      const incidents = (await (await fetch(`${at.app.ticketing}/api/incidents`)).json()) as { id: string }[]
      for (const path of [...PAGES, ...incidents.map(({ id }) => `/incidents/${id}`)]) {
        await page.goto(at.app.dashboard + path)
        await page.locator('h1').waitFor()
        await untilRead(page)
        expect(await page.evaluate(STATE), path).to.deep.equal(FINE)
      }
    })

  it('a service of a long name leaves the columns beside it in sight, and the way out of its records', async () => {
    page = await at.open('/', { width: 1_280 })
    await untilRead(page)
    const isInSight = async (locator: ReturnType<Page['locator']>, right: number) => {
      const box = (await locator.boundingBox())!
      expect(box.x + box.width).to.be.at.most(right)
    }
    const services = page.getByRole('table', { name: 'Services' })
    const { x, width } = (await services.locator('xpath=..').boundingBox())!
    await isInSight(services.getByRole('columnheader', { name: 'Errors, change' }), x + width)
    for (const each of WIDTHS) {
      await page.context().close()
      page = await at.open('/logs?q=OutOfMemory', { width: each })
      await page.getByRole('row', { name: /OutOfMemory y/ }).click()
      await isInSight(page.getByRole('button', { name: 'Close the record' }), each)
    }
  })

  it('a field of an odd name is filtered by, and numbers of 64 bits have all their digits', async () => {
    page = await at.open('/logs?q=an order')
    await page.getByRole('row', { name: /an order/ }).click()
    await page.getByRole('button', { name: `Only order.id ${LONG_NUMBER}` }).click()
    await page.waitForURL(url => url.searchParams.get('q') === `an order order.id:${LONG_NUMBER}`)
    await page.getByRole('row', { name: /an order/ }).waitFor()
    await page.goto(`${at.app.dashboard}/logs?q=refused`)
    await page
      .getByRole('row', { name: /refused/ })
      .first()
      .click()
    await page.getByRole('button', { name: /^Only (attributes\.)?a b c d$/ }).click()
    await page.waitForURL(url => /a\\ b:"c d"/.test(url.searchParams.get('q') ?? ''))
    await page
      .getByText('1 records')
      .or(page.getByText('1 record', { exact: true }))
      .first()
      .waitFor()
  })

  it('an incident leads to the logs and the settings of its tenant, though another has a service of the name', async () => {
    const headers = { 'x-service-tenant-id': 'globex' }
    const [incident] = (await (await fetch(`${at.app.ticketing}/api/incidents?service=billing`, { headers })).json()) as { id: string }[]
    page = await at.open(`/incidents/${incident!.id}`)
    const head = page.locator('dl').filter({ hasText: 'Tenant' })
    await head.getByText('globex').waitFor()
    expect(await page.getByRole('link', { name: 'Silence billing…' }).getAttribute('href')).to.match(/services=billing.*tenant=globex/)
    await head.getByRole('link', { name: 'billing' }).click()
    await page.waitForURL(url => url.searchParams.get('q') === 'service:billing tenant_id:globex')
    await page.getByText('OutOfMemory at globex').first().waitFor()
    expect(await page.getByText('OutOfMemory at acme').count()).to.equal(0)
  })

  it('the tenant is chosen on a phone, too', async () => {
    page = await at.open('/logs', { width: 400 })
    await page.getByRole('button', { name: 'All tenants' }).click()
    await page.getByLabel('Look at one tenant').fill('nobody')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.waitForURL(/tenant=nobody/)
    await page.getByRole('button', { name: 'nobody' }).waitFor()
    expect(at.takeProblems().join()).to.match(/^(console: .*403.*)?$/)
  })
})
