/** Links of the console, in a browser: what they hold arrives, a tab says what is open in it, and an incident leads to those before it. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Locator } from 'playwright-core'
import { useConsole } from './testing/console-suite.ts'
import { eventually, type Standalone } from './testing/standalone-process.ts'

const HOUR_MS = 3_600_000
const evidence = [{ patternId: '00000000000000aa', pattern: 'pool is empty', count: 3, score: 0.5, logIds: [], traceIds: [] }]

/** An incident of the shop, acknowledged unless it is that of this hour. */
function incidentOf(hoursAgo: number) {
  const createdAt = new Date(Date.now() - hoursAgo * HOUR_MS).toISOString()
  return {
    ...{ id: `shop-${hoursAgo}`, tenantId: 'default', title: 'shop: pool is empty', service: 'shop', severity: 'high' },
    ...{ status: hoursAgo === 0 ? 'open' : 'acknowledged', createdAt, firstSeen: createdAt, lastSeen: createdAt, updatedAt: createdAt },
    ...{ anomalyCount: 3, anomalyScore: 0.9, affectedServices: ['shop'], evidence, platforms: [], traceId: '', recurring: false },
  }
}

const STORM = { ...incidentOf(1), id: 'storm', title: 'hub: all fail', service: 'hub', furtherServices: 700 }
const STORM_SERVICES = Array.from({ length: 200 }, (_, i) => `service-${i}`)

async function fill(app: Standalone): Promise<void> {
  const storm = { ...STORM, affectedServices: ['hub', ...STORM_SERVICES] }
  const lines = [...[0, 5, 30].map(incidentOf), storm].flatMap(incident => [{ index: { _id: incident.id } }, incident])
  const response = await fetch(`${app.search}/service-incidents-default/_bulk?refresh=true`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/x-ndjson' } },
    body: `${lines.map(line => JSON.stringify(line)).join('\n')}\n`,
  })
  expect(await response.json()).to.include({ errors: false })
  const resolved = await fetch(`${app.ticketing}/api/incidents/shop-5/resolve`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ actor: 'ada', note: 'restarted the pool' }),
  })
  expect(resolved.status).to.equal(200)
}

/** Where the one bar of a chart is drawn, in px of the page. */
async function barOf(chart: Locator) {
  const { x, y, height } = (await chart.boundingBox())!
  const middle = Math.round(height / 2)
  // Nothing else of a chart is as high: lines of the grid lie, and labels are short.
  const columns = (await chart.locator('canvas').evaluate((element, top) => {
    const canvas = element as unknown as { width: number; getContext(kind: '2d'): { getImageData(...box: number[]): { data: Uint8Array } } }
    const { data } = canvas.getContext('2d').getImageData(0, top, canvas.width, 30)
    const isFilled = (column: number) =>
      Array.from({ length: 30 }, (_, row) => data[(row * canvas.width + column) * 4 + 3]!).every(alpha => alpha > 200)
    return Array.from({ length: canvas.width }, (_, column) => column).filter(isFilled)
  }, middle - 20)) as readonly number[]
  expect(columns).to.have.length.above(4)
  return { left: x + columns[0]!, right: x + columns.at(-1)! + 1, y: y + middle }
}

describe('links of the console', function () {
  this.timeout(90_000)
  const at = useConsole({ fill, sharesWindow: true })
  let barServices = 0

  /** The logs of a service that has one bar of twenty records. */
  async function openOneBar() {
    const service = `bars-${barServices++}`
    const entries = Array.from({ length: 20 }, (_, i) => ({ message: `bar ${i}`, service }))
    await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body: JSON.stringify(entries) })
    const page = await at.open('/upload')
    const rows = page.getByRole('row').filter({ hasText: 'bar ' })
    await eventually(async () => {
      await page.goto(`${at.app.dashboard}/logs?range=5m&q=service:${service}`)
      await rows.nth(19).waitFor({ timeout: 4_000 })
    })
    const chart = page.getByRole('img', { name: 'Records by level: INFO 20' })
    return { page, rows, chart, bar: await barOf(chart) }
  }

  it('a search holds what a log line has of an address, from page to page too', async () => {
    const search = '"/a%20b?c=%2F"'
    const page = await at.open(`/logs?${new URLSearchParams({ q: search })}`)
    const box = page.getByRole('combobox', { name: 'Search logs' })
    await eventually(async () => expect(await box.inputValue()).to.equal(search))
    await page.getByRole('tab', { name: 'Patterns' }).click()
    await page.waitForURL(url => url.searchParams.get('mode') === 'patterns')
    expect(new URL(page.url()).searchParams.get('q')).to.equal(search)
    expect(await page.title()).to.equal(`${search} · Logs · logpipeline`)
  })

  it('an address that was cut off is that of an incident which nobody knows', async () => {
    const page = await at.open('/incidents/shop-0%25E0%25A4%25A')
    const alert = page.getByRole('alert').filter({ hasText: 'shop-0%E0%A4%A' })
    await alert.getByText('See whether the link is whole.').waitFor()
    at.takeProblems()
  })

  it('an incident of another tenant than the one that is looked at is one click away', async () => {
    const page = await at.open('/incidents/shop-0?tenant=acme')
    const alert = page.getByRole('alert').filter({ hasText: 'belongs to another tenant' })
    await alert.getByRole('link', { name: 'Look at all tenants' }).click()
    await page.getByRole('article', { name: 'Incident of shop' }).waitFor()
    expect(new URL(page.url()).search).to.equal('')
    at.takeProblems()
  })

  it('a tenant that cannot be is said to be none, since all are shown', async () => {
    const page = await at.open('/incidents?tenant=ACME&status=all')
    const notice = page.getByText('All tenants are shown: the address names one that cannot be.')
    await notice.waitFor()
    await page.getByRole('article', { name: 'Incident of shop' }).waitFor()
    await page.getByRole('link', { name: 'Look at acme' }).click()
    await page.waitForURL(url => url.search === '?tenant=acme&status=all')
    await page.getByRole('button', { name: 'acme', exact: true }).waitFor()
    expect(await notice.count()).to.equal(0)
  })

  it('settings say whose they are', async () => {
    const page = await at.open('/settings/silences')
    await page.getByText('Of tenant default.').waitFor()
    await page.goto(`${at.app.dashboard}/settings/silences?tenant=acme`)
    await page.getByText('Of tenant acme.').waitFor()
  })

  it('an incident of hundreds of services has its cause in sight, and all of them on a click', async () => {
    const page = await at.open('/incidents/storm')
    const incident = page.getByRole('article', { name: 'Incident of hub' })
    await incident.getByText('and 897 more are affected, too.').waitFor()
    await incident.getByText('700 more, not named').waitFor()
    const { y } = (await page.getByRole('region', { name: 'Likely cause' }).boundingBox())!
    expect(y).to.be.below(800)
    expect(await incident.getByText('service-199').count()).to.equal(0)
    await page.getByRole('button', { name: 'Show all 201' }).click()
    await incident.getByText('service-199').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'hub' }).getByText('+900').waitFor()
  })

  it('an incident says at its head who was told, and leads to the tickets', async () => {
    const page = await at.open('/incidents/shop-0')
    await page.getByRole('link', { name: 'nobody', exact: true }).click()
    await page.waitForURL(/#tickets$/)
    await page.getByRole('article', { name: 'Incident of shop' }).waitFor()
  })

  it('an incident is silenced by two clicks', async () => {
    const page = await at.open('/incidents/shop-0')
    await page.getByRole('link', { name: 'Silence shop…' }).click()
    expect(await page.getByLabel('Reason').inputValue()).to.equal('shop: pool is empty')
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    await page.getByText('The silence holds from now on').waitFor()
    const silences = `${at.app.ticketing}/api/v1/silences`
    const [silence] = (await (await fetch(silences)).json()) as { id: string; services: string[]; reason: string }[]
    expect(silence).to.deep.include({ services: ['shop'], reason: 'shop: pool is empty' })
    await fetch(`${silences}/${silence!.id}`, { method: 'DELETE' })
  })

  it('an incident names its tab, and gives the name back', async () => {
    const page = await at.open('/incidents/shop-0')
    await eventually(async () => expect(await page.title()).to.equal('shop: pool is empty · Incidents · logpipeline'))
    await page.getByRole('link', { name: 'Health', exact: true }).click()
    await eventually(async () => expect(await page.title()).to.equal('Health · logpipeline'))
    await page.goBack()
    await eventually(async () => expect(await page.title()).to.equal('shop: pool is empty · Incidents · logpipeline'))
    await page.getByRole('link', { name: 'Incidents', exact: true }).click()
    await eventually(async () => expect(await page.title()).to.equal('Incidents · logpipeline'))
  })

  it('an incident leads to those before it, and says what helped', async () => {
    const page = await at.open('/incidents/shop-0')
    const before = page.getByRole('region', { name: 'Seen before' })
    await before.getByText('2 times').waitFor()
    await before.getByText('ada: restarted the pool').waitFor()
    await before.getByRole('link').first().click()
    await page.waitForURL(url => url.pathname === '/incidents/shop-5')
    await before.getByText('once').waitFor()
    await before.getByRole('link').first().click()
    await page.waitForURL(url => url.pathname === '/incidents/shop-30')
    await before.getByText('No earlier incident of shop is like it.').waitFor()
    // Nothing is promised for one that somebody took before.
    await page.getByRole('region', { name: 'Likely cause' }).getByText('No cause was looked for.').waitFor()
  })

  it('a bar of the histogram is zoomed into by one click, as a finger can; a step back leads out', async () => {
    const { page, bar, rows } = await openOneBar()
    await page.mouse.click((bar.left + bar.right) / 2, bar.y)
    await page.waitForURL(/from=.*&to=/)
    await rows.nth(19).waitFor()
    const { searchParams } = new URL(page.url())
    expect(Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)).to.be.within(1_000, 60_000)
    await page.goBack()
    await page.waitForURL(/range=5m/)
  })

  it('a bar is itself over its whole width, for its figures as for a click', async () => {
    const { page, chart, bar, rows } = await openOneBar()
    for (const x of [bar.left + 1, bar.right - 1]) {
      await page.mouse.move(x, bar.y)
      await chart.getByText('INFO20').waitFor()
    }
    await page.mouse.click(bar.right - 1, bar.y)
    await page.waitForURL(/from=.*&to=/)
    await rows.nth(19).waitFor()
  })

  it('two clicks on a bar are one step, whether they are a double click or not', async () => {
    for (const pauseMs of [0, 700]) {
      const { page, bar } = await openOneBar()
      // Answers that come late leave the bar where it is.
      await page.route('**/_search?*', async route => {
        await new Promise(done => setTimeout(done, 1_500))
        await route.continue()
      })
      await page.mouse.click((bar.left + bar.right) / 2, bar.y)
      await page.waitForTimeout(pauseMs)
      await page.mouse.click((bar.left + bar.right) / 2, bar.y, { clickCount: pauseMs === 0 ? 2 : 1 })
      await page.waitForURL(/from=.*&to=/)
      await page.goBack()
      await page.waitForURL(/range=5m/)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
  })

  it('filters say that values are counted while that takes its time', async () => {
    const page = await at.open('/upload')
    await page.route('**/_search?*', async route => {
      if (route.request().postData()?.includes('"f0"')) await new Promise(done => setTimeout(done, 1_500))
      await route.continue()
    })
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await page.getByText('Counting values of fields…').waitFor()
    await page.getByText('Counting values of fields…').waitFor({ state: 'detached' })
  })
})
