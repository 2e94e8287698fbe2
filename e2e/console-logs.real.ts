/** The logs page in a browser, on the records of a small shop: search, facets, records, patterns, a trace, a comparison, the live tail. */
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { buildConsole, type Console, findAccessProblems, openConsole, type PageOptions } from '../dataplane/console/testing/open-console.ts'
import { seedShop } from '../dataplane/console/testing/seed-shop.ts'
import { type Standalone, startStandalone } from './testing/standalone-process.ts'

/** On a busy machine a click may take seconds. */
const PATIENCE_MS = 60_000

describe('the logs page', function () {
  this.timeout(300_000)
  let app: Standalone
  let console: Console
  let page: Page
  const problems: string[] = []

  before(async function () {
    buildConsole()
    app = await startStandalone()
    await seedShop(app.dashboard, { endMs: Date.now(), minutes: 60, troubleMinutes: 10 })
    await untilCounted(app.dashboard, 2_500)
    console = await openConsole(this, app.dashboard)
  })
  after(async () => {
    await console?.close()
    await app?.remove()
  })
  afterEach(async () => {
    await page?.context().close()
    problems.push(...console.takeProblems())
  })

  const open = async (search: string, options?: PageOptions) => {
    page = await console.open(`/logs${search}`, options)
    page.setDefaultTimeout(PATIENCE_MS)
  }
  const rows = () =>
    page
      .getByRole('grid')
      .getByRole('row')
      .filter({ has: page.getByRole('gridcell') })
  const searchBox = () => page.getByRole('combobox', { name: 'Search logs' })
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name)
  const untilParameter = (name: string, value: string | null) => page.waitForURL(url => url.searchParams.get(name) === value)
  const panel = () => page.getByRole('region', { name: 'Record', exact: true })
  const total = async () => Number((await page.locator('[role=status]', { hasText: /records?$/ }).innerText()).replace(/\D/g, ''))

  it('shows the newest records, a histogram by level, and facets with counts', async () => {
    await open('')
    await rows().first().waitFor()
    await page.getByRole('img', { name: /^Records by level: FATAL \d+, ERROR \d+/ }).waitFor()
    const facet = page.getByRole('navigation', { name: 'Filters' }).getByRole('region', { name: 'service' })
    await facet.getByRole('button', { name: /^checkout \d/ }).waitFor()
    expect(await total()).to.be.above(2_000)
  })

  it('a facet filters in and out, and the search says so', async () => {
    await open('')
    const filters = page.getByRole('navigation', { name: 'Filters' })
    await filters.getByRole('button', { name: /^checkout \d/ }).click()
    await untilParameter('q', 'service:checkout')
    await filters.getByRole('button', { name: /^payments \d/ }).click()
    await untilParameter('q', 'service:(checkout OR payments)')
    await filters.getByRole('button', { name: /^checkout \d/ }).click()
    await untilParameter('q', 'service:payments')
    await filters.getByRole('button', { name: 'Leave out level INFO' }).click()
    await untilParameter('q', 'service:payments -level:INFO')
    await rows().filter({ hasText: 'connection refused' }).first().waitFor()
    expect(await searchBox().inputValue()).to.equal('service:payments -level:INFO')
    await page.goBack()
    await untilParameter('q', 'service:payments')
  })

  it('`/` focuses the search; fields and values are offered; words that are found are marked', async () => {
    await open('')
    await rows().first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('serv')
    await page.getByRole('option', { name: /^service/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await searchBox().inputValue()).to.equal('service:')
    await page.getByRole('option', { name: /^checkout/ }).click()
    await untilParameter('q', 'service:checkout')
    await page.keyboard.type('timeout')
    await page.keyboard.press('Enter')
    await untilParameter('q', 'service:checkout timeout')
    await page.locator('[role=grid] mark', { hasText: 'timeout' }).first().waitFor()
  })

  it('a search that cannot be read says where, and what to write instead', async () => {
    await open('')
    await searchBox().fill('service:(checkout')
    await searchBox().press('Enter')
    const problem = page.getByRole('alert')
    await problem.getByText('is not closed').waitFor()
    expect(await problem.innerText()).to.include('service:(one OR two)')
    expect(parameter('q')).to.equal(null)
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await problem.waitFor({ state: 'hidden' })
  })

  it('the query that the search becomes is there to see', async () => {
    await open('?q=level%3Aerror')
    await page.getByRole('button', { name: 'How to search' }).click()
    const query = page.getByRole('region', { name: 'The query of this search' })
    expect(await query.innerText()).to.include('"level": "ERROR"')
  })

  it('`j` and `k` walk, Enter opens, Esc closes; the open record stands in the URL', async () => {
    await open('?q=level%3AERROR')
    await rows().first().waitFor()
    for (const key of ['j', 'j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await panel().waitFor()
    await page.waitForURL(/record=/)
    const first = parameter('record')
    await page.keyboard.press('j')
    await page.waitForURL(url => url.searchParams.get('record') !== first)
    await page.reload()
    await panel().getByRole('term').filter({ hasText: 'trace_id' }).waitFor()
    await page.keyboard.press('Escape')
    await panel().waitFor({ state: 'hidden' })
    await untilParameter('record', null)
  })

  it('a record shows all fields, filters by each, what surrounds it, and its trace', async () => {
    await open('?q=%22connection+refused%22')
    await rows().first().click()
    await panel()
      .getByRole('button', { name: 'Only thread.name worker' })
      .or(panel().getByRole('button', { name: /^Only thread\.name worker-\d/ }))
      .first()
      .click()
    await page.waitForURL(url => /^"connection refused" thread\.name:worker-\d$/.test(url.searchParams.get('q') ?? ''))
    await panel().getByRole('tab', { name: 'Surrounding' }).click()
    await panel().locator('li[aria-current=true]').waitFor()
    expect(await panel().getByRole('listitem').count()).to.be.above(5)
    await panel().getByText('All services').click()
    await panel().getByRole('listitem').filter({ hasText: 'storefront' }).first().waitFor()
    await panel().getByRole('button', { name: 'Trace', exact: true }).click()
    await page.waitForURL(url => url.searchParams.get('mode') === 'trace' && /^[0-9a-f]{32}$/.test(url.searchParams.get('trace') ?? ''))
    await page.getByRole('list', { name: 'Records of the trace' }).getByRole('button').first().waitFor()
  })

  it('the table goes on as one scrolls', async () => {
    await open('')
    await rows().first().waitFor()
    const grid = page.getByRole('grid')
    const height = await grid.evaluate(element => element.scrollHeight)
    await grid.focus()
    await page.keyboard.press('End')
    for (const deadline = Date.now() + PATIENCE_MS; (await grid.evaluate(element => element.scrollHeight)) <= height; )
      if (Date.now() > deadline) expect.fail('the table did not grow')
    expect(await rows().count(), 'rows that are drawn').to.be.below(80)
  })

  it('columns can be chosen, the order turned', async () => {
    await open('')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'host' }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'host' }).waitFor()
    await page.getByRole('button', { name: 'Newest first' }).click()
    await untilParameter('order', 'oldest')
    expect(parameter('columns')).to.equal('service,host')
  })

  it('a range brushed on the histogram is the range of the page', async () => {
    await open('')
    const chart = page.getByRole('img', { name: /^Records by level/ })
    const box = (await chart.boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/from=.*to=/)
    const length = Date.parse(parameter('to')!) - Date.parse(parameter('from')!)
    expect(length).to.be.within(8 * 60_000, 20 * 60_000)
  })

  it('patterns have counts, trends and changes; one can be hidden, or shown alone', async () => {
    await open('?mode=patterns&range=30m&q=level%3A(ERROR+OR+FATAL)')
    const table = page.getByRole('table', { name: 'Patterns' })
    const row = table.getByRole('row').filter({ hasText: 'connection refused: provider acquirer-eu' })
    await row.getByText('new').waitFor()
    await row.getByRole('img', { name: /^Trend/ }).waitFor()
    await row.getByRole('button', { name: 'Hide this' }).click()
    await page.waitForURL(url => (url.searchParams.get('q') ?? '').includes('-pattern_id:'))
    await row.waitFor({ state: 'hidden' })
    await table.getByRole('button', { name: 'Show only this' }).first().click()
    await page.waitForURL(url => !url.searchParams.has('mode') && / pattern_id:[0-9a-f]{16}$/.test(url.searchParams.get('q') ?? ''))
  })

  it('two times are compared: what is new, and what there is more of', async () => {
    await open('?mode=compare&range=30m')
    const services = page.getByRole('table', { name: 'Services' })
    await services.getByRole('row').filter({ hasText: 'payments' }).waitFor()
    await page
      .getByRole('table', { name: 'Patterns that changed' })
      .getByRole('row')
      .filter({ hasText: 'rolled back' })
      .getByText('new')
      .waitFor()
  })

  it('the live tail shows a record soon after it was sent, and holds still when paused', async () => {
    await open('?mode=live&q=tail')
    await page.getByText('Waiting for the next record').waitFor()
    await send(app.dashboard, 'tail one')
    await rows().filter({ hasText: 'tail one' }).waitFor()
    const filters = page.getByRole('navigation', { name: 'Filters' })
    await filters.getByRole('region', { name: 'service' }).getByRole('button').first().waitFor({ timeout: 25_000 })
    await page.keyboard.press('p')
    await page.getByText('paused').waitFor()
    await send(app.dashboard, 'tail two')
    await page.waitForTimeout(1_500)
    expect(await rows().count()).to.equal(1)
    await page.getByRole('button', { name: 'Go on' }).click()
    await rows().filter({ hasText: 'tail two' }).waitFor()
  })

  it('records are exported as NDJSON and CSV', async () => {
    await open('?q=service%3Apayments+level%3A(ERROR+OR+FATAL)')
    await rows().first().waitFor()
    const count = await total()
    const save = async (format: RegExp) => {
      await page.getByRole('button', { name: 'Export' }).click()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: format }).click()])
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
    }
    const ndjson = await save(/^NDJSON/)
    expect(ndjson.name).to.match(/^logs-.*\.ndjson$/)
    const records = ndjson.text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(records).to.have.length(count)
    expect(new Set(records.map(({ service }) => service))).to.deep.equal(new Set(['payments']))
    const csv = await save(/^CSV/)
    expect(csv.text.trim().split('\r\n')).to.have.length(count + 1)
    expect(csv.text).to.match(/^\uFEFFtimestamp,level,service,message\r\n/)
  })

  it('a view is saved by name; a link shares this very time', async () => {
    await open('?q=level%3AFATAL&mode=patterns')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('textbox', { name: 'Save this view as' }).fill('Fatal ones')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Fatal ones', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByText('Link copied').waitFor()
    const shared = new URL((await page.evaluate('navigator.clipboard.readText()')) as string)
    expect([...shared.searchParams.keys()]).to.have.members(['q', 'mode', 'from', 'to'])
    await page.goto(`${app.dashboard}/logs`)
    await page.getByRole('navigation', { name: 'Saved views' }).getByRole('link', { name: 'Fatal ones', exact: true }).click()
    await untilParameter('q', 'level:FATAL')
  })

  it('where nothing matches it says what to do', async () => {
    await open('?q=nosuchword')
    await page.getByText('No record matches').waitFor()
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await untilParameter('range', '7d')
    await page
      .getByRole('link', { name: 'Without the search' })
      .or(page.getByRole('button', { name: 'Without the search' }))
      .click()
    await untilParameter('q', null)
  })

  it('one tenant alone: its records, with the fields that they hold', async () => {
    await open('?tenant=default')
    await rows().first().waitFor()
    await searchBox().fill('thread')
    await page.getByRole('option', { name: /^thread\.name/ }).waitFor()
    // The store does not tell of the fields of one tenant: that request fails, and records tell.
    expect(console.takeProblems().filter(problem => !/40[34]/.test(problem))).to.deep.equal([])
  })

  for (const theme of ['light', 'dark'] as const)
    for (const [name, search, shown] of [
      ['records', '?q=timeout', '[role=grid] mark'],
      ['patterns', '?mode=patterns', 'table'],
      ['a trace', '?mode=trace', 'form'],
      ['a comparison', '?mode=compare', 'table'],
      ['the live tail', '?mode=live', 'section[aria-label="Live tail"]'],
    ] as const)
      it(`axe finds nothing in ${name}, ${theme}`, async () => {
        await open(search, { theme })
        await page.locator(shown).first().waitFor()
        await page.getByRole('progressbar', { name: 'Reading' }).waitFor({ state: 'hidden' })
        if (name === 'records') {
          await rows().first().click()
          await panel().getByRole('term').first().waitFor()
        }
        expect(await findAccessProblems(page)).to.deep.equal([])
      })

  it('axe finds nothing at 400 px, and nothing is wider than the window', async () => {
    for (const mode of ['records', 'patterns', 'trace', 'compare', 'live']) {
      await open(`?mode=${mode}`, { width: 400, height: 800 })
      await page.locator('[role=grid], table, form, section[aria-label="Live tail"]').first().waitFor()
      await page.getByRole('progressbar', { name: 'Reading' }).waitFor({ state: 'hidden' })
      expect(await page.evaluate('document.documentElement.scrollWidth'), mode).to.be.at.most(400)
      expect(await findAccessProblems(page), mode).to.deep.equal([])
      if (mode !== 'live') await page.context().close()
    }
  })

  it('the browser complained of nothing', () => expect(problems).to.deep.equal([]))
})

async function untilCounted(dashboard: string, count: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; ) {
    const answer = await fetch(`${dashboard}/api/search/service-logs-*/_count`)
    if (((await answer.json()) as { count?: number }).count! >= count) return
    if (Date.now() > deadline) throw new Error(`the store holds fewer than ${count} records after a minute`)
    await new Promise(done => setTimeout(done, 200))
  }
}

async function send(dashboard: string, message: string): Promise<void> {
  const answer = await fetch(`${dashboard}/api/upload`, {
    method: 'POST',
    body: JSON.stringify({ service: 'tail', level: 'INFO', message }),
  })
  expect(answer.status).to.equal(200)
}
