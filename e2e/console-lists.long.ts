/** Lists of the console that are empty, long, or grow while one reads, in a browser. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { SEVERITIES } from '../dataplane/contract/platforms.ts'
import { useConsole } from './testing/console-suite.ts'
import { eventually } from './testing/standalone-process.ts'

const INCIDENTS = 340
const CRITICAL = INCIDENTS / SEVERITIES.length
const TAIL_RECORDS = 120
const PRINTED_RECORDS = 90
/** The first row that is whole below the head of the table, and its place. */
const READ_ROW = `(() => {
  const rows = [...document.querySelectorAll('[role=grid] [role=row][aria-rowindex]')].slice(1)
  const top = document.querySelector('[role=grid]').getBoundingClientRect().top + 40
  const row = rows.filter(each => each.getBoundingClientRect().top > top).sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)[0]
  return row.innerText + ' ' + row.getBoundingClientRect().top
})()`

/** Severities of all rows in their order, of which only those in sight are drawn, and how many those are at most. */
const READ_INCIDENTS = `(async () => {
  const severities = {}
  let drawn = 0
  for (let y = 0; y < document.documentElement.scrollHeight; y += 500) {
    window.scrollTo(0, y)
    await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    const rows = document.querySelectorAll('ul[aria-label=Incidents] li')
    drawn = Math.max(drawn, rows.length)
    for (const row of rows) severities[row.ariaPosInSet] = row.dataset.severity
  }
  return { severities: Object.values(severities), drawn }
})()`
/** The name of what has the focus, and whether one sees that it has: by an outline, of the whole row for its link, or by the border of a field. */
const FOCUSED = `(() => {
  const focused = document.activeElement
  const labels = [...(focused.labels ?? [])].map(label => label.textContent)
  const name = focused.getAttribute('aria-label') ?? (labels.join(' ') || focused.textContent.trim())
  const isOutlined = pseudo => getComputedStyle(focused, pseudo).outlineStyle === 'solid'
  return [name, isOutlined() || isOutlined('::after') || focused.matches('input, textarea')]
})()`
/** Rows as they stand on paper, by the distance of each from the one before. */
const READ_PRINTED = (rows: string) => `(() => {
  window.dispatchEvent(new Event('beforeprint'))
  const tops = [...document.querySelectorAll('${rows}')].map(row => row.getBoundingClientRect().top)
  const ends = [...document.querySelectorAll('main *')].some(each => each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).overflowY === 'auto')
  window.dispatchEvent(new Event('afterprint'))
  return { count: tops.length, least: Math.min(...tops.slice(1).map((top, at) => top - tops[at])), ends }
})()`
const MAX_DRAWN = 60
/** A page that scrolls by itself has done so by then. */
const SCROLLED_MS = 500

const LONG_AGO = 'from=2001-01-01T00:00:00.000Z&to=2001-01-02T00:00:00.000Z'
/** Answers of a slow network. */
const LATE_MS = 2_000

describe('lists of the console', function () {
  this.timeout(90_000)
  const at = useConsole({ sharesWindow: true })
  let sent = 0

  const send = async (count: number) => {
    const timeUnixNano = `${Date.now()}000000`
    const logRecords = Array.from({ length: count }, () => ({ timeUnixNano, body: { stringValue: `tail ${sent++}` } }))
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] }
    const response = await fetch(`${at.app.collector}/v1/logs`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
    })
    expect(response.status).to.equal(200)
  }
  /** A quarter of each severity; the critical ones are the oldest. */
  const fillIncidents = async (tenantId = 'default') => {
    const lines = Array.from({ length: INCIDENTS }, (_, i) => {
      const createdAt = new Date(Date.now() - (INCIDENTS - i) * 60_000).toISOString()
      const incident = {
        ...{ id: `${tenantId}-${i}`, tenantId, title: `shop: storm ${i}`, service: 'shop', status: 'open', createdAt },
        ...{
          severity: SEVERITIES[Math.floor(i / CRITICAL)],
          firstSeen: createdAt,
          lastSeen: createdAt,
          anomalyCount: 3,
          anomalyScore: 0.9,
        },
        ...{ affectedServices: ['shop'], evidence: [], traceId: '', recurring: false },
      }
      return `${JSON.stringify({ index: { _index: `service-incidents-${tenantId}`, _id: incident.id } })}\n${JSON.stringify(incident)}\n`
    })
    const response = await fetch(`${at.app.search}/_bulk?refresh=true`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/x-ndjson' } },
      body: lines.join(''),
    })
    expect(await response.json()).to.include({ errors: false })
  }
  const readIncidents = async (page: Page) =>
    (await page.evaluate(READ_INCIDENTS)) as { readonly severities: readonly string[]; readonly drawn: number }
  const incidentRows = (page: Page) => page.getByRole('list', { name: 'Incidents' }).getByRole('listitem')

  it('incidents of a system that never got a log: the first one is shown the way, and the page sees it come', async () => {
    const page = await at.open('/incidents')
    await page.getByText('No logs yet').waitFor()
    expect(await page.getByText(/is quiet/).count()).to.equal(0)
    await page.getByRole('link', { name: 'drop a file of logs' }).waitFor()
    await send(1)
    await page.getByText('All is quiet').waitFor({ timeout: 20_000 })
    expect(await page.getByText('No logs yet').count()).to.equal(0)
  })

  it('incidents in a storm: the most severe come first, also where they are the oldest', async () => {
    await fillIncidents()
    const page = await at.open('/incidents', { width: 1_000 })
    await incidentRows(page).first().getByText('critical').waitFor()
    const { severities } = await readIncidents(page)
    expect(severities.slice(0, CRITICAL)).to.deep.equal(Array(CRITICAL).fill('critical'))
    expect(severities[CRITICAL]).to.equal('high')
  })

  for (const { where, empty, full, claim } of [
    {
      where: 'incidents',
      empty: '/incidents?service=nobody',
      full: '/incidents',
      claim: /is quiet|No unresolved incident|No incident matches/,
    },
    { where: 'records', empty: '/logs?q=unheard', full: '/logs?range=1d', claim: /No record matches|No records in this time/ },
    { where: 'patterns', empty: '/logs?mode=patterns&q=unheard', full: '/logs?mode=patterns&range=1d', claim: /No messages to group/ },
    { where: 'compare', empty: '/logs?mode=compare&q=unheard', full: '/logs?mode=compare&range=1d', claim: /Nothing to compare/ },
    { where: 'trends', empty: `/trends?${LONG_AGO}`, full: '/trends', claim: /No incident began in this time/ },
    { where: 'overview', empty: `/?${LONG_AGO}`, full: '/?range=1d', claim: /No records in this time|No new pattern/ },
  ])
    it(`${where}: nothing is said to be empty before the answer is there, where the one before was`, async () => {
      await fillIncidents()
      if (sent === 0) await send(1)
      const page = await at.open(empty)
      await eventually(async () => expect(await page.getByText(claim).count()).to.be.above(0))
      await page.route('**/api/**', async route => {
        await new Promise(done => setTimeout(done, LATE_MS))
        await route.continue()
      })
      await page.evaluate(`history.pushState(null, '', '${full}')`)
      await page.waitForTimeout(LATE_MS / 2)
      expect(await page.getByText(claim).allInnerTexts()).to.deep.equal([])
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })

  it('patterns: none is said to be new before its counts are there, where those of another search were', async () => {
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const entries = [
      { service: 'old-news', message: 'disk is nearly full', timestamp: minutesAgo(20) },
      ...[20, 70, 80].map(minutes => ({ service: 'daily', message: 'backup is done', timestamp: minutesAgo(minutes) })),
    ]
    await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body: JSON.stringify(entries) })
    const page = await at.open('/upload')
    await eventually(async () => {
      await page.goto(`${at.app.dashboard}/logs?mode=patterns&q=service:old-news`)
      await page.getByText('disk is nearly full').waitFor({ timeout: 4_000 })
    })
    const table = page.getByRole('table', { name: 'Patterns' })
    await page.route('**/_search?*', async route => {
      if (route.request().postData()?.includes('pattern_id":[')) await new Promise(done => setTimeout(done, LATE_MS))
      await route.continue()
    })
    await page.evaluate("history.pushState(null, '', '/logs?mode=patterns&q=service:daily')")
    await page.getByText('1 in 1 records').waitFor()
    await page.waitForTimeout(LATE_MS / 2)
    expect(await table.getByText('new', { exact: true }).count()).to.equal(0)
    await table.getByText('backup is done').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('incidents: rows of other filters are said to be such while an answer takes its time', async () => {
    await fillIncidents()
    const page = await at.open('/incidents', { width: 1_000 })
    await incidentRows(page).first().waitFor()
    await page.route('**/api/ticketing/api/incidents?*', async route => {
      await new Promise(done => setTimeout(done, LATE_MS))
      await route.continue()
    })
    await page.getByRole('button', { name: /^Escalated/ }).click()
    const list = page.getByRole('region', { name: 'List of incidents' })
    await list.getByText('Reading incidents…').waitFor({ timeout: LATE_MS })
    expect(await list.getAttribute('aria-busy')).to.equal('true')
    await list.getByText('No incident matches').waitFor()
    expect(await list.getAttribute('aria-busy')).to.equal(null)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('incidents on a phone: the page begins with its title and filters, not with the first row', async () => {
    const page = await at.open('/incidents', { width: 390, height: 844 })
    await incidentRows(page).first().getByText('critical').waitFor()
    await page.waitForTimeout(SCROLLED_MS)
    expect(await page.evaluate('window.scrollY')).to.equal(0)
    await page.keyboard.press('k')
    for (let step = 0; step < 12; step++) await page.keyboard.press('j')
    await eventually(async () => expect((await page.locator('li[data-current=true]').boundingBox())!.y).to.be.within(56, 844 - 56 - 84))
  })

  it('more incidents come below, until all are there', async () => {
    const page = await at.open('/incidents', { width: 1_000 })
    const sizes = () => incidentRows(page).last().getAttribute('aria-setsize')
    await eventually(async () => expect(await sizes()).to.equal(String(INCIDENTS)))
    const more = page.getByRole('button', { name: 'More', exact: true })
    const count = page.getByText(/^\d+ of 340$/)
    const [label, button] = [(await count.boundingBox())!, (await more.boundingBox())!]
    expect(button.x - (label.x + label.width), 'the count does not touch the button').to.be.at.least(8)
    await more.click()
    await more.waitFor({ state: 'detached' })
    const { severities, drawn } = await readIncidents(page)
    expect(severities).to.deep.equal(SEVERITIES.flatMap(severity => Array(CRITICAL).fill(severity)))
    expect(drawn, 'only rows in sight are drawn').to.be.within(1, MAX_DRAWN)
  })

  it('the live tail holds still while one reads below its top, and leads back to the newest', async () => {
    await send(TAIL_RECORDS)
    const page = await at.open('/logs?mode=live&q=tail')
    const grid = page.getByRole('grid', { name: 'Live records' })
    await page.getByText(`${TAIL_RECORDS + 1} seen`).waitFor()
    await grid.hover()
    await page.mouse.wheel(0, 500)
    await page.getByText('held while you read').waitFor()
    const before = await page.evaluate(READ_ROW)
    await send(7)
    await page.getByRole('button', { name: '7 newer' }).waitFor()
    expect(await page.evaluate(READ_ROW)).to.equal(before)
    await page.getByRole('button', { name: '7 newer' }).click()
    await grid.getByText(`tail ${sent - 1}`).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await send(1)
    await grid.getByText(`tail ${sent - 1}`).waitFor()
  })

  it('a value is copied where the browser has no clipboard for scripts, as over plain HTTP', async () => {
    const page = await at.open('/logs')
    await page.addInitScript('delete Navigator.prototype.clipboard')
    await page.goto(`${at.app.dashboard}/logs?q=${encodeURIComponent('"tail 0"')}`)
    await page.getByRole('row', { name: /tail 0/ }).click()
    const search = page.getByRole('combobox', { name: 'Search logs' })
    for (const [button, text] of [
      ['Copy service', 'shop'],
      ['Copy the message', 'tail 0'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('button', { name: 'Copied' }).first().waitFor()
      await search.fill('')
      await search.press('Control+V')
      expect(await search.inputValue()).to.equal(text)
    }
  })

  it('overview: says which incidents are open where no record is left', async () => {
    await fillIncidents('emptied')
    const page = await at.open('/?tenant=emptied')
    await page.getByText('No logs yet').waitFor()
    await page.getByRole('region', { name: 'Open incidents' }).getByRole('link', { name: /storm/ }).first().waitFor()
    await page.goto(`${at.app.dashboard}/?tenant=nobody`)
    await page.getByText('No logs yet').waitFor()
    expect(await page.getByRole('region', { name: 'Open incidents' }).count()).to.equal(0)
  })

  for (const width of [1_280, 390])
    it(`by the keyboard alone, ${width} px wide: from the list to an incident, through its states, to its logs and back`, async () => {
      await fillIncidents(`keys-${width}`)
      const page = await at.open(`/incidents?tenant=keys-${width}`, { width })
      await incidentRows(page).first().waitFor()
      /** Tab until something of that name is focused, within a few steps; each stop is seen and has a name. */
      const tabTo = async (name: RegExp, most: number) => {
        for (let step = 1; step <= most; step++) {
          await page.keyboard.press('Tab')
          const [focused, isSeen] = (await page.evaluate(FOCUSED)) as [string, boolean]
          expect(focused, 'a stop without a name').to.not.equal('')
          expect(isSeen, `the focus on ${focused}`).to.equal(true)
          if (name.test(focused)) return
        }
        expect.fail(`${name} is not within ${most} stops`)
      }
      const detail = page.getByRole('article', { name: /^Incident of/ })
      const isState = (state: string) => detail.getByText(state, { exact: true }).first().waitFor()
      await tabTo(/^Choose /, 40)
      await tabTo(/\S/, 1)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/incidents\/./)
      await detail.waitFor()
      await tabTo(/^Acknowledge/, 4)
      await page.keyboard.press('Enter')
      await isState('acknowledged')
      await tabTo(/^Note, /, 8)
      await page.keyboard.type('it is the new index')
      await tabTo(/^Comment/, 2)
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name: 'Timeline' }).getByText('it is the new index').waitFor()
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Escape')
      await page.keyboard.press('r')
      await isState('resolved')
      await tabTo(/^shop$/, 12)
      const place = page.url()
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/logs/)
      await page.goBack()
      await page.waitForURL(place)
      await detail.waitFor()
      if (width < 1_200) await page.keyboard.press('u')
      else {
        await page.keyboard.press('?')
        await page.getByRole('dialog').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page.keyboard.press('Enter')
        await page.getByRole('region', { name: 'The incident' }).and(page.locator(':focus')).waitFor()
        await tabTo(/^Copy the link/, 1)
        // The first one closes the hint of the button.
        for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
      }
      await incidentRows(page).first().waitFor()
      if (width >= 1_200)
        expect(await page.evaluate('document.activeElement.closest("ul")?.ariaLabel'), 'Escape leads to the list').to.equal('Incidents')
    })

  it('on paper all rows that were read stand below each other, of incidents and of records', async () => {
    const printed = async (page: Page, rows: string) => {
      await page.emulateMedia({ media: 'print' })
      const found = (await page.evaluate(READ_PRINTED(rows))) as { readonly count: number; readonly least: number; readonly ends: boolean }
      await page.emulateMedia({ media: 'screen' })
      return found
    }
    await send(PRINTED_RECORDS)
    const incidents = await at.open('/incidents', { width: 1_000 })
    await incidentRows(incidents).first().waitFor()
    const { count, least } = await printed(incidents, 'ul[aria-label=Incidents] li')
    expect(count, 'incidents').to.be.above(MAX_DRAWN)
    expect(least).to.be.at.least(60)
    const logs = await at.open('/logs?range=15m&q=tail')
    await eventually(async () => expect(Number(await logs.getByRole('grid').getAttribute('aria-rowcount'))).to.be.above(PRINTED_RECORDS))
    const records = await printed(logs, '[role=grid] [role=rowgroup] [role=row]')
    expect(records.count, 'records').to.be.at.least(PRINTED_RECORDS)
    expect(records.least).to.be.at.least(20)
    expect(records.ends, 'a part of the page would scroll').to.equal(false)
    // The height of the screen is measured anew, a moment after that of the paper.
    await eventually(async () => expect(await logs.getByRole('row').count(), 'on the screen again').to.be.below(MAX_DRAWN + 30))
  })
})
