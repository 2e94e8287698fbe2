/** Hostile and unusual content of logs, in a browser: it is shown as text, and leaves the pages as they are. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { DRAWN, untilRead } from '../dataplane/console/testing/open-console.ts'
import { untilIncidents, useConsole } from './testing/console-suite.ts'
import type { Standalone } from './testing/standalone-process.ts'

const SCRIPT = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>'
const LONG_NAME = `service-${'x'.repeat(400)}`
const LONG_TENANT = 't'.repeat(63)
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
/** Turns round what follows; the second is not seen at all. */
const TURNED = '\u202e'
const UNSEEN = '\u200b'
const HEBREW = 'שגיאה בתשלום: connection refused'
/** Characters of the page that hide something, in its text, in titles and in names for screen readers. */
const HIDDEN = `[document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label]')].flatMap(each => [each.title ?? '', each.ariaLabel ?? ''])]
  .flatMap(text => text.match(/.{0,20}[\\u202a-\\u202e\\u2066-\\u2069\\u200b].{0,20}/g) ?? [])`
/**
 * Whether a script of a record ran, how far the page is wider than the window, what it hides, and names of services that lie over what stands beside
 * them.
 */
const STATE = `(() => {
  const right = element => element.getBoundingClientRect().right
  const places = [...document.querySelectorAll('main [title^="service-x"]')].map(name => [name, name.closest('td, li, dd, [role=row]') ?? document.body])
  return {
    wasRun: window.wasRun,
    over: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
    hidden: ${HIDDEN},
    covering: places.filter(([name, place]) => right(name) > right(place) + 1).map(([, place]) => place.outerHTML.slice(0, 200)),
  }
})()`
const FINE = { wasRun: undefined, over: 0, hidden: [], covering: [] }

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
  await send(LONG_NAME, ['connection refused', 'read timed out', 'OutOfMemory'], [], 'acme')
  await send('orders', ['an order'], [{ key: 'order.id', value: { intValue: LONG_NUMBER } }])
  const [tricky, turned] = [`pay${TURNED}tnem`, `us${TURNED}er`]
  const messages = [`connection refused by ${TURNED}gpj.exe`, `timeout of zero${UNSEEN}width`, `${TURNED}OutOfMemory`]
  await send(tricky, messages, [text(turned, `${TURNED}nimda`), text('city', 'תל אביב')])
  await send('hebrew', [HEBREW, 'an English message'])
  await send('silent', ['', '', '', ' ', ' ', ' '], [text('event.name', 'cart.emptied')])
  for (const tenant of ['globex', 'acme'])
    await send('billing', ['connection refused', 'read timed out', `OutOfMemory at ${tenant}`], [], tenant)
  await send('api', ['connection refused', 'read timed out', 'OutOfMemory'], [], LONG_TENANT)
  await send('checkout-payments', ['connection refused', 'read timed out', 'OutOfMemory'])
  await untilIncidents(app, ['checkout-payments', SCRIPT, LONG_NAME, tricky, 'billing', 'api'])
}

describe('content of logs in the console', function () {
  this.timeout(90_000)
  const at = useConsole({ fill, sharesWindow: true })
  let page: Page

  it('names the tenant of an incident beside the longest name of a service', async () => {
    const page = await at.open('/incidents')
    const tenant = page
      .getByRole('listitem')
      .filter({ has: page.getByTitle(LONG_NAME) })
      .getByTitle('Of tenant acme')
    expect(await tenant.evaluate(element => element.scrollWidth - element.clientWidth)).to.equal(0)
  })

  it('names a service of a short name whole beside the longest name of a tenant', async () => {
    const page = await at.open('/incidents')
    const row = page.getByRole('listitem').filter({ has: page.getByTitle(`Of tenant ${LONG_TENANT}`) })
    await row.getByRole('checkbox', { name: `of tenant ${LONG_TENANT}` }).waitFor()
    expect(await row.getByTitle('api', { exact: true }).evaluate(element => element.scrollWidth - element.clientWidth)).to.equal(0)
  })

  it('names the tenants of incidents on the overview, too', async () => {
    const page = await at.open('/')
    const rows = page.getByRole('region', { name: 'Open incidents' }).getByRole('listitem')
    await rows.first().waitFor()
    const incidents = (await (await fetch(`${at.app.ticketing}/api/incidents`)).json()) as { id: string; tenantId: string }[]
    const tenants = await Promise.all(
      (await rows.all()).map(async row => {
        const href = await row.getByRole('link').first().getAttribute('href')
        const tenant = incidents.find(({ id }) => href?.endsWith(id))?.tenantId
        const named = await row.getByTitle(/^Of tenant /).allTextContents()
        expect(named, href ?? '').to.deep.equal(tenant === 'default' ? [] : [tenant])
        return tenant
      }),
    )
    expect(tenants).to.include('acme')
    await page.goto(`${at.app.dashboard}/?tenant=acme`)
    await rows.first().waitFor()
    expect(await rows.getByTitle(/^Of tenant /).count()).to.equal(0)
  })

  it('is text on every page, which is no wider than a window, of a phone or of a computer', async () => {
    page = await at.open('/upload')
    const incidents = (await (await fetch(`${at.app.ticketing}/api/incidents`)).json()) as { id: string }[]
    for (const path of [...PAGES, ...incidents.map(({ id }) => `/incidents/${id}`)]) {
      await page.goto(at.app.dashboard + path)
      await page.locator('h1').waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        await page.evaluate(DRAWN)
        await untilRead(page)
        expect(await page.evaluate(STATE), `${path}, ${width}`).to.deep.equal(FINE)
      }
    }
  })

  it('hides nothing in a record either; its JSON and what is copied of it are the original', async () => {
    page = await at.open('/logs?q=zero*')
    await page.getByRole('row', { name: 'zeroU+200Bwidth' }).click()
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.getByText('U+202E', { exact: true }).first().waitFor()
    for (const tab of ['Surrounding', 'JSON']) {
      await record.getByRole('tab', { name: tab }).click()
      await record.getByText(tab === 'JSON' ? 'zero\\u200bwidth' : 'OutOfMemory').waitFor()
      expect(await page.evaluate(STATE), tab).to.deep.equal(FINE)
    }
    await record.getByRole('button', { name: 'Copy the message' }).click()
    await record.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(`timeout of zero${UNSEEN}width`)
    await record.getByRole('tab', { name: 'Fields' }).click()
    await record.getByRole('button', { name: 'Only service pay[U+202E]tnem' }).click()
    await page.waitForURL(url => url.searchParams.get('q')?.includes(`pay${TURNED}tnem`) === true)
    // The search box itself shows such a character as the browser does.
    await page.getByText('Not seen in the search: U+202E, in').waitFor()
    await page.goto(`${at.app.dashboard}/logs?q=us%5C${TURNED}er%3A`)
    await page.getByRole('alert').getByText('The value of us').waitFor()
    expect(await page.evaluate(STATE), 'a problem').to.deep.equal(FINE)
    await page.goto(`${at.app.dashboard}/logs?q=nothing${UNSEEN}here`)
    await page.getByText('No record matches').waitFor()
    expect(await page.evaluate(STATE), 'no record').to.deep.equal(FINE)
  })

  it('reads from right to left where it is so written, and only there', async () => {
    page = await at.open('/logs?q=service:hebrew')
    const direction = (message: string) =>
      page
        .getByRole('gridcell', { name: message, exact: true })
        .evaluate(cell => cell.ownerDocument.defaultView!.getComputedStyle(cell).direction)
    expect([await direction(HEBREW), await direction('an English message')]).to.deep.equal(['rtl', 'ltr'])
  })

  it('a record without a message says its own fields instead, in each list', async () => {
    for (const path of ['/logs?q=service:silent', '/logs?mode=patterns&q=service:silent', `/logs?mode=trace&trace=${TRACE}`]) {
      page = await at.open(path)
      await page
        .getByRole('main')
        .getByText(path.includes('patterns') ? /^no message$/ : /^no message, event\.name=cart\.emptied$/)
        .nth(1)
        .waitFor()
    }
    page = await at.open('/logs?q=service:silent')
    await page
      .getByRole('row', { name: /no message/ })
      .first()
      .click()
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.getByText('The message is empty.').waitFor()
    await record.getByRole('tab', { name: 'Surrounding' }).click()
    await record.locator('li[aria-current=true]').getByText('no message, event.name=cart.emptied').waitFor()
    page = await at.open('/')
    await page.getByRole('region', { name: 'New patterns' }).getByRole('link', { name: 'no message' }).first().waitFor()
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
      page = await at.open('/logs?q=OutOfMemory', { width: each })
      await page.getByRole('row', { name: /OutOfMemory y/ }).click()
      await isInSight(page.getByRole('button', { name: 'Close the record' }), each)
    }
  })

  it('the trends show a service of a usual name whole on a tablet', async () => {
    page = await at.open('/trends', { width: 768 })
    const name = page.getByRole('table', { name: 'Noisiest services' }).getByTitle('checkout-payments').locator('[dir=auto]')
    expect(await name.evaluate(element => element.scrollWidth - element.clientWidth)).to.equal(0)
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
    // All records of the suite share their `log_id`s, as those of one instant do where nobody traces: samples are of this incident.
    const samples = page.getByRole('list', { name: 'Sample lines' })
    await samples.getByText('OutOfMemory at globex').waitFor()
    expect(await samples.count()).to.equal(3)
    expect(await samples.getByText(/acme|gpj|yyy|script/).count()).to.equal(0)
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
