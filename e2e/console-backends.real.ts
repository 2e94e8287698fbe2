/** The main ways through the console in a browser, on a standalone whose bus is Kafka and whose search store is OpenSearch. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { after, describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { openKafkaBus } from '../dataplane/adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../dataplane/adapters/clock/system-clock.ts'
import { findAccessProblems, untilRead } from '../dataplane/console/testing/open-console.ts'
import { seedShop } from '../dataplane/console/testing/seed-shop.ts'
import { TOPICS } from '../dataplane/contract/topics.ts'
import { backendAddress } from '../dataplane/testing/real/address.ts'
import { untilIncidents, useConsole } from './testing/console-suite.ts'
import { eventually } from './testing/standalone-process.ts'

export const needs = ['kafka', 'opensearch']

/** On a busy machine a click may take seconds. */
const PATIENCE_MS = 60_000
const PATIENCE = { timeoutMs: PATIENCE_MS, pauseMs: 250 }
const INDICES = ['service-logs-*', 'service-anomalies-*', 'service-incidents-*', 'service-audit-*', 'service-config', 'service-api-keys']

describe('the console on Kafka and OpenSearch', function () {
  this.timeout(180_000)
  const id = randomUUID().slice(0, 8)
  const topics = {
    RAW_TOPIC: `raw-${id}`,
    ENRICHED_TOPIC: `enriched-${id}`,
    ANOMALY_TOPIC: `anomaly-${id}`,
    DEAD_LETTER_TOPIC: `dead-${id}`,
  }
  const search = backendAddress('opensearch')
  const at = useConsole({
    settings: async () => {
      await clear()
      return { BUS_BROKERS: backendAddress('kafka'), SEARCH_ENDPOINT: search, ...topics }
    },
    fill: async app => {
      await seedShop(app.dashboard, { endMs: Date.now(), minutes: 60, troubleMinutes: 10 })
      await untilIncidents(app, ['payments'], 120_000)
    },
  })
  let page: Page
  after(() => clear())

  const clear = async () => {
    for (const index of INDICES) await (await fetch(`${search}/${index}?ignore_unavailable=true`, { method: 'DELETE' })).text()
  }
  const open = async (path: string) => {
    page = await at.open(path)
    page.setDefaultTimeout(PATIENCE_MS)
  }
  const rows = () =>
    page
      .getByRole('grid')
      .getByRole('row')
      .filter({ has: page.getByRole('gridcell') })
  const untilQuery = (query: string) => page.waitForURL(url => url.searchParams.get('q') === query)

  for (const path of ['/', '/logs', '/incidents', '/upload', '/status', '/settings/thresholds'])
    it(`shows ${path}, and axe finds nothing`, async () => {
      await open(path)
      await untilRead(page)
      expect(await findAccessProblems(page)).to.deep.equal([])
    })

  it('logs: histogram, facets that filter, words that are marked', async () => {
    await open('/logs?range=3h')
    await rows().first().waitFor()
    await page.getByRole('img', { name: /^Records by level: FATAL \d+, ERROR \d+/ }).waitFor()
    const filters = page.getByRole('navigation', { name: 'Filters' })
    await filters.getByRole('button', { name: /^payments \d/ }).click()
    await untilQuery('service:payments')
    await filters.getByRole('button', { name: 'Leave out level INFO' }).click()
    await untilQuery('service:payments -level:INFO')
    await rows().filter({ hasText: 'connection refused' }).first().waitFor()
    await page.goto(`${at.app.dashboard}/logs?range=3h&q=%22connection+refused%22`)
    await rows().first().getByText('connection', { exact: false }).locator('mark').first().or(page.locator('mark').first()).waitFor()
  })

  it('logs: a record with what surrounds it, and its trace', async () => {
    await open('/logs?range=3h&q=%22connection+refused%22')
    await rows().first().click()
    const panel = page.getByRole('region', { name: 'Record', exact: true })
    await panel.getByRole('tab', { name: 'Surrounding' }).click()
    await panel.locator('li[aria-current=true]').waitFor()
    expect(await panel.getByRole('listitem').count()).to.be.above(5)
    await panel.getByRole('button', { name: 'Trace', exact: true }).click()
    await page.getByRole('list', { name: 'Records of the trace' }).getByRole('button').first().waitFor()
  })

  it('logs: patterns, and two times compared', async () => {
    await open('/logs?range=3h&mode=patterns')
    await page
      .getByText(/connection refused: provider/)
      .first()
      .waitFor()
    await page.goto(`${at.app.dashboard}/logs?range=15m&mode=compare`)
    await page.getByRole('table', { name: 'Patterns that changed' }).getByRole('row').filter({ hasText: 'rolled back' }).waitFor()
  })

  it('logs: pages as one scrolls, and an export of all', async () => {
    await open('/logs?range=3h')
    await rows().first().waitFor()
    const grid = page.getByRole('grid')
    const height = await grid.evaluate(element => element.scrollHeight)
    await grid.focus()
    await page.keyboard.press('End')
    await eventually(async () => expect(await grid.evaluate(element => element.scrollHeight)).to.be.above(height), PATIENCE)
    await page.goto(`${at.app.dashboard}/logs?range=3h&q=service%3Apayments+level%3AFATAL`)
    await rows().first().waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /NDJSON/ }).click()])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.length).to.be.above(1)
    for (const line of lines) expect(JSON.parse(line)).to.include({ service: 'payments', level: 'FATAL' })
  })

  it('logs: the live tail shows a record soon after it was sent', async () => {
    await open('/logs?mode=live&q=tail')
    await page.getByText('Waiting for the next record').waitFor()
    await upload('{"message":"tail of the line","service":"cart"}')
    await rows().filter({ hasText: 'tail of the line' }).waitFor()
  })

  it('overview leads to the incident, whose cause is told; it is acknowledged, and the timeline says so', async () => {
    await open('/?range=1h')
    await page
      .getByRole('table', { name: 'Services' })
      .getByRole('row', { name: /payments/ })
      .waitFor()
    await page
      .getByRole('region', { name: 'Open incidents' })
      .getByRole('link', { name: /^payments/ })
      .first()
      .click()
    await page.waitForURL(/\/incidents\/./)
    const detail = page.getByRole('article', { name: 'Incident of payments' })
    await detail.waitFor()
    await page
      .getByRole('region', { name: 'Evidence' })
      .getByText(/connection refused|is exhausted/)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: /^Note/ }).fill('on it')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('a')
    await detail.getByText('acknowledged', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('on it').waitFor()
  })

  it('upload: takes a file, names the line that was refused, and leads to the records', async () => {
    await open('/upload')
    const lines = ['{"message":"one","service":"cart"}', 'no JSON', '{"message":"two","service":"cart"}']
    const file = { name: 'app.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines.join('\n')) }
    await page.getByLabel('Files of logs').setInputFiles(file)
    await page.getByText('2 records taken, 1 refused').waitFor()
    await page.getByRole('list', { name: 'Refused lines' }).getByText('line 2').waitFor()
    await page.getByRole('link', { name: 'see them' }).click()
    await page.waitForURL(/\/logs\?.*batch_id%3A/)
    await rows().filter({ hasText: 'two' }).waitFor()
  })

  it('API keys: one is created, and revoked', async () => {
    await open('/settings/api-keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Name').fill('checkout')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Copy the key now').waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row', { name: /checkout/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
  })

  it('health: the topics of Kafka, a dead letter with its reason, and its replay', async () => {
    const brokers = backendAddress('kafka').split(',')
    const bus = await openKafkaBus({ brokers, clock: systemClock, topics: [{ ...TOPICS.raw, name: topics.RAW_TOPIC }] })
    await bus.send(topics.RAW_TOPIC, [{ key: 'garbage', value: Buffer.from('{"resourceLogs": no OTLP') }])
    await bus.stop()
    await open('/status')
    await page
      .getByText('Everything works')
      .or(page.getByText(/dead letter/))
      .first()
      .waitFor()
    await page.getByRole('table', { name: 'Topics' }).getByText(topics.RAW_TOPIC).waitFor()
    const letters = page.getByRole('table', { name: 'Dead letters' })
    await letters
      .getByText(/expected|JSON/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Replay all' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Replay \d/ })
      .click()
    await page.getByText(/\d sent again/).waitFor()
  })

  const upload = async (line: string) => {
    const answer = await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body: line })
    expect(await answer.json()).to.include({ accepted: 1 })
  }
})
