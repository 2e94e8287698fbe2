/** The ways through overview, health, upload and API keys, in a browser. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Locator, Page } from 'playwright-core'
import { untilRead } from '../dataplane/console/testing/open-console.ts'
import { seedShop } from '../dataplane/console/testing/seed-shop.ts'
import { TENANT_HEADER } from '../dataplane/contract/headers.ts'
import { untilIncidents, useConsole } from './testing/console-suite.ts'
import { eventually } from './testing/standalone-process.ts'

interface Configured {
  readonly platforms: Readonly<Record<string, object>>
  readonly routing: Readonly<Record<string, readonly string[]>>
  readonly escalation: Readonly<Record<string, string | null>>
}

describe('pages of the console', function () {
  this.timeout(90_000)
  const at = useConsole({ sharesWindow: true })
  let page: Page

  it('say how to send the first log while there is none', async () => {
    page = await at.open('/')
    await page.getByText('No logs yet').waitFor()
    await page.getByText(`curl ${at.app.dashboard}/api/upload`, { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Copy the command' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).to.contain('payment gateway timeout')
    await page.getByRole('link', { name: 'Trends', exact: true }).click()
    await page.getByRole('region', { name: 'Incidents by severity' }).getByText('No logs yet').waitFor()
  })

  it('say so for the tenant that is looked at, so that the log comes there', async () => {
    page = await at.open('/?tenant=newcomer')
    await page.getByText('logpipeline demo --tenant newcomer', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy the command' }).click()
    execFileSync('sh', ['-c', (await page.evaluate('navigator.clipboard.readText()')) as string], { stdio: 'pipe' })
    await page.getByText('No logs yet').waitFor({ state: 'detached', timeout: 30_000 })
    // The store tells the fields of one tenant to nobody.
    expect(at.takeProblems().every(problem => problem.includes('403'))).to.equal(true)
  })

  it('upload: takes a file, names the lines that were refused, and leads to the records', async () => {
    page = await at.open('/upload')
    const lines = ['{"message":"one","service":"cart"}', 'no JSON', '{"message":"two","service":"cart"}']
    const file = { name: 'app.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines.join('\n')) }
    await page.getByLabel('Files of logs').setInputFiles(file)
    await page.getByText('2 records taken, 1 refused').waitFor()
    await page.getByRole('list', { name: 'Refused lines' }).getByText('line 2').waitFor()
    await page.getByRole('link', { name: 'see them' }).click()
    await page.waitForURL(/\/logs\?.*batch_id%3A/)
  })

  it('upload: goes on while other pages are open, for the tenant that it began with', async () => {
    page = await at.open('/upload?tenant=shop')
    const held = Promise.withResolvers<void>()
    const tenants: (string | undefined)[] = []
    await page.route('**/api/upload', async route => {
      tenants.push(route.request().headers()[TENANT_HEADER])
      await held.promise
      await route.continue()
    })
    const file = (name: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from('{"message":"one","service":"cart"}') })
    await page.getByLabel('Files of logs').setInputFiles([file('first.json'), file('second.json')])
    await page.getByText('waits').waitFor()
    await page.getByRole('link', { name: 'Logs', exact: true }).click()
    await page.getByRole('button', { name: 'shop' }).click()
    await page.getByRole('button', { name: 'All tenants' }).click()
    held.resolve()
    await page.getByText('second.json: 1 record taken').waitFor()
    expect(tenants).to.deep.equal(['shop', 'shop'])
    await page.getByRole('link', { name: 'Upload', exact: true }).click()
    expect(await page.getByRole('listitem').filter({ hasText: 'first.json' }).count()).to.equal(0)
    await page.goBack()
    await page.goBack()
    await page.getByRole('link', { name: 'Upload', exact: true }).click()
    await page.getByRole('listitem').filter({ hasText: 'first.json' }).getByRole('link', { name: 'See it' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'second.json' }).getByRole('link', { name: 'See it' }).waitFor()
    // The store tells the fields of one tenant to nobody.
    expect(at.takeProblems().every(problem => problem.includes('403'))).to.equal(true)
  })

  it('upload: says of a log that is still written to that it changed, not that the dashboard is away', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-upload-'))
    try {
      const paths = ['first.json', 'growing.json'].map(name => join(directory, name))
      for (const path of paths) {
        writeFileSync(path, '{"message":"one","service":"cart"}')
        // A browser tells versions of a file apart by the second.
        utimesSync(path, 1_700_000_000, 1_700_000_000)
      }
      page = await at.open('/upload')
      const held = Promise.withResolvers<void>()
      await page.route('**/api/upload', async route => {
        await held.promise
        await route.continue()
      })
      await page.getByLabel('Files of logs').setInputFiles(paths)
      await page.getByText('waits').waitFor()
      appendFileSync(paths[1]!, '\n{"message":"two","service":"cart"}')
      held.resolve()
      await page.getByText('The file changed or was moved since it was chosen, or is a folder.').waitFor()
      expect(at.takeProblems().every(problem => problem.includes('ERR_'))).to.equal(true)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('upload: says what to do with a file that holds no logs', async () => {
    page = await at.open('/upload')
    await page.getByLabel('Files of logs').setInputFiles({ name: 'picture.json', mimeType: 'application/json', buffer: Buffer.from('') })
    await page.getByRole('alert').getByText('Correct what the message names').waitFor()
    // The browser tells of the answer, too.
    expect(at.takeProblems().join()).to.match(/^console: .*400/)
  })

  it('API keys: one is created, copied once, and revoked', async () => {
    page = await at.open('/settings/api-keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Name').fill('checkout')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Copy the key now').waitFor()
    // The key is shown once: no slip takes it away, and the keys of the keyboard lead to it.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Copy the key', exact: true }).and(page.locator(':focus')).press('Enter')
    const key = (await page.evaluate('navigator.clipboard.readText()')) as string
    expect(key).to.match(/^svc_proj_[0-9a-f]{64}$/)
    // The command leads to this gateway on its own port.
    await page.getByRole('button', { name: 'Copy the command', exact: true }).click()
    await eventually(async () => expect(await page.evaluate('navigator.clipboard.readText()')).to.match(/^curl /))
    const command = (await page.evaluate('navigator.clipboard.readText()')) as string
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' })).to.equal('{"partialSuccess":{}}')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row', { name: /checkout/ })
    await row.getByText(`svc_proj_${key.slice(9, 13)}…${key.slice(-4)}`).waitFor()
    expect(await page.content()).to.not.contain(key)
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    // The button that had the focus is gone with its row: Tab goes on from the list, not from the top of the page.
    const keys = page.getByRole('region', { name: 'API keys', exact: true })
    await keys.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Create a key' }).and(page.locator(':focus')).waitFor()
  })

  for (const [section, opening, sending, first] of [
    ['platforms', ['Add a platform', 'Slack'], 'Save', 'Webhook URL'],
    ['silences', [], 'Silence', 'Services'],
  ] as const)
    it(`settings: a form of ${section} that lacks something leads to it, and examples do not look like wrong values`, async () => {
      page = await at.open(`/settings/${section}`)
      const [button, item] = opening
      if (button !== undefined) await page.getByRole('button', { name: button }).click()
      if (item !== undefined) await page.getByRole('menuitem', { name: item }).click()
      await page.getByRole('button', { name: sending, exact: true }).click()
      const field = page.getByLabel(new RegExp(`^${first}`)).and(page.locator('[aria-invalid=true]:focus'))
      await field.waitFor()
      const colours = await field.evaluate(element => {
        const { getComputedStyle } = element.ownerDocument.defaultView!
        return [getComputedStyle(element, '::placeholder').color, getComputedStyle(element).borderColor]
      })
      expect(colours[0]).to.not.equal(colours[1])
    })

  it('settings: what somebody else changed meanwhile stays', async () => {
    const change = (section: string, changes: object) =>
      fetch(`${at.app.dashboard}/api/ticketing/api/v1/config/${section}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(changes),
      })
    const configured = async () => (await (await fetch(`${at.app.dashboard}/api/ticketing/api/v1/config`)).json()) as Configured
    const slack = (channel: string) => ({ enabled: false, webhookUrl: `https://hooks.slack.com/services/${channel}` })
    expect((await change('platforms', { 'slack:one': slack('1'), 'slack:two': { ...slack('2'), mention: '@here' } })).status).to.equal(200)

    page = await at.open('/settings/escalation')
    await page.getByLabel('critical').waitFor()
    await change('escalation', { critical: '10m' })
    await page.getByLabel('high').fill('20m')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Escalation is saved').waitFor()
    expect((await configured()).escalation).to.include({ critical: '10m', high: '20m' })
    expect(await page.getByLabel('critical').inputValue()).to.equal('10m')

    await page.getByRole('link', { name: 'Routing', exact: true }).click()
    await page.getByLabel('Slack · one is told of critical incidents').waitFor()
    await change('routing', { critical: ['slack:two'] })
    // The page shows a click a moment later: it tells the change to all that show it first.
    const toggle = async (cell: Locator, isOn: boolean) => {
      await cell.click()
      await eventually(async () => expect(await cell.isChecked()).to.equal(isOn))
    }
    await toggle(page.getByLabel('Slack · one is told of critical incidents'), true)
    await page.getByText('The routing is saved').waitFor()
    expect((await configured()).routing['critical']).to.deep.equal(['slack:two', 'slack:one'])

    // Clicks that come while another one is being saved count as well.
    await page.route('**/api/v1/config/routing', async route => {
      await new Promise(done => setTimeout(done, 700))
      await route.continue()
    })
    const cells = ['one', 'two'].map(name => page.getByLabel(`Slack · ${name} is told of high incidents`))
    for (const cell of cells) await toggle(cell, true)
    for (const cell of cells) expect(await cell.isChecked()).to.equal(true)
    await toggle(cells[0]!, false)
    await eventually(async () => expect((await configured()).routing['high']).to.deep.equal(['slack:two']))
    await page.unrouteAll({ behavior: 'wait' })
    expect([await cells[0]!.isChecked(), await cells[1]!.isChecked()]).to.deep.equal([false, true])

    await page.getByRole('link', { name: 'Platforms', exact: true }).click()
    await page.getByRole('button', { name: /Slack · two/ }).click()
    await change('platforms', { 'slack:two': { mention: '@night' } })
    await page.getByLabel('Mention on escalate').fill('@channel')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Slack · two is saved').waitFor()
    expect((await configured()).platforms['slack:two']).to.include({ enabled: false, mention: '@night', escalationMention: '@channel' })
  })

  it('health: says that everything works', async () => {
    page = await at.open('/status')
    await page.getByText('Everything works').waitFor({ timeout: 40_000 })
    await page.getByRole('table', { name: 'Topics' }).getByText('raw-logs').waitFor()
    await page.getByRole('region', { name: 'Bridge' }).getByText('lifecycle').waitFor()
  })

  it('health: a bridge that answers that it does not work says what is wrong with it', async () => {
    const health = { status: 'error', threads: { etl: 'running', indexer: 'restarting' }, bus: 'disconnected', search: 'connected' }
    page = await at.open('/upload')
    await page.route('**/api/bridge/health', route => route.fulfill({ status: 503, json: health }))
    await page.getByRole('link', { name: 'Health' }).click()
    const bridge = page.getByRole('region', { name: 'Bridge' })
    await bridge.getByText('restarting', { exact: true }).waitFor()
    await bridge.getByText('disconnected', { exact: true }).waitFor()
    await page.getByText("The bridge's thread indexer is restarting.").waitFor()
    await page.getByText('The bridge is disconnected from the message bus.').waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    const ingestion = page.getByRole('region', { name: 'Ingestion' })
    await ingestion.getByText('1 of 2 running').waitFor()
    await ingestion.getByText('disconnected', { exact: true }).waitFor()
    expect(at.takeProblems().every(problem => problem.includes('503'))).to.equal(true)
  })

  it('health: an installation without an agent is not told to start one', async () => {
    page = await at.open('/upload')
    await page.route('**/health', async route => {
      if (!route.request().url().endsWith(`${at.app.dashboard}/health`)) return route.continue()
      const { backends, ...rest } = (await (await fetch(`${at.app.dashboard}/health`)).json()) as { readonly backends: object }
      return route.fulfill({ json: { ...rest, backends: { ...backends, agent: 'not configured' } } })
    })
    await page.route('**/api/agent/**', route =>
      route.fulfill({ status: 502, json: { error: 'the infrastructure agent cannot be reached' } }),
    )
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByRole('region', { name: 'Message bus' }).getByText('None is configured: AGENT_ENDPOINT').waitFor()
    expect(await page.getByText('Start it').count()).to.equal(0)
    expect(at.takeProblems().every(problem => problem.includes('502'))).to.equal(true)
  })

  it('health: shows dead letters, and replays them', async () => {
    // The collector refuses such a record; what its predecessors let through can still lie on the bus.
    const letter = {
      id: '0/7',
      time: new Date().toISOString(),
      stage: 'etl',
      reason: 'body: expected JSON',
      topic: 'raw-logs',
      tenant: 'default',
      service: 'cart',
      bytes: 12,
    }
    page = await at.open('/upload')
    const real = await (await fetch(`${at.app.dashboard}/api/agent/metrics`)).json()
    await page.route('**/api/agent/metrics', route =>
      route.fulfill({ json: { ...(real as object), deadLetters: { letters: 1, oldest: letter.time } } }),
    )
    await page.route('**/api/agent/dead-letters?*', route => route.fulfill({ json: { letters: [letter] } }))
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByText('One dead letter lies in the queue').waitFor()
    await page.getByRole('table', { name: 'Dead letters' }).getByText('body: expected JSON').waitFor()
    await page.getByRole('button', { name: 'Replay all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay 1' }).click()
    await page.getByText('0 sent again').waitFor()
  })

  it('overview: shows what is wrong, and leads there', async () => {
    await seedShop(at.app.dashboard, { endMs: Date.now() })
    await untilIncidents(at.app, ['payments'])
    page = await at.open('/?range=1h')
    await untilRead(page)
    const services = page.getByRole('table', { name: 'Services' })
    expect(await services.getByRole('row').nth(1).textContent()).to.match(/payments|checkout/)
    await page.getByRole('combobox', { name: 'Order of the services' }).selectOption('Most records')
    await page.waitForURL(/services=records/)
    await services.getByRole('row').nth(1).getByText('storefront').waitFor()
    await page.getByRole('img', { name: /^Records by level: FATAL \d+, ERROR \d+/ }).waitFor()
    await page
      .getByRole('region', { name: 'New patterns' })
      .getByText(/connection refused: provider/)
      .waitFor()
    await page
      .getByRole('region', { name: 'Open incidents' })
      .getByRole('link', { name: /^payments/ })
      .click()
    await page.waitForURL(/\/incidents\/.+range=1h|\/incidents\/[^?]+$/)

    // A line of the evidence leads to the lines around it, with the columns of the table; its link names record and time.
    await page.getByRole('list', { name: 'Sample lines' }).first().getByRole('link').first().click()
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.getByRole('tab', { name: 'Surrounding', selected: true }).waitFor()
    await record.locator('li[aria-current=true]').waitFor()
    await page.locator('[role=grid] [data-open=true]').waitFor()
    await page.goto(`${page.url()}&columns=service,thread.name`)
    await record
      .getByText(/^thread\.name=worker-\d$/)
      .first()
      .waitFor()
    await record.getByText('This instance').click()
    await record.locator('li[aria-current=true]').waitFor()
    const row = page.getByRole('grid').getByRole('row').filter({ hasText: /acquirer-eu/ }) // biome-ignore format: one line
    await row.nth(1).click()
    await record.getByRole('button', { name: 'Copy a link to this record' }).click()
    const link = new URL((await page.evaluate('navigator.clipboard.readText()')) as string)
    await page.waitForURL(url => url.searchParams.get('record') === link.searchParams.get('record'))
    expect([...link.searchParams.keys()]).to.include.members(['record', 'from', 'to'])
  })

  it('overview: a range brushed on the chart becomes the time range', async () => {
    page = await at.open('/?range=1h')
    const chart = page.getByRole('img', { name: /^Records by level/ })
    const box = (await chart.boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.8, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=.*&to=/)
    await page.goBack()
    await page.waitForURL(/range=1h$|\/$/)
  })

  it('overview: what the bridge tells stays while the agent is away', async () => {
    page = await at.open('/upload')
    await page.route('**/api/agent/**', route =>
      route.fulfill({ status: 502, json: { error: 'the agent cannot be reached', status: 502 } }),
    )
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    const ingestion = page.getByRole('region', { name: 'Ingestion' })
    await ingestion.getByRole('alert').getByText('The agent cannot be reached.').waitFor()
    await ingestion.getByText('4 of 4 running').waitFor()
    await ingestion.getByText('Newest record').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await ingestion.getByRole('button', { name: 'Try again' }).click()
    await ingestion.getByText('Message bus').waitFor()
    expect(at.takeProblems().every(problem => problem.includes('502'))).to.equal(true)
  })

  it('settings: thresholds that the bridge does not tell are said to be missing', async () => {
    page = await at.open('/upload')
    await page.route('**/api/bridge/**', route =>
      route.fulfill({ status: 502, json: { error: 'the bridge cannot be reached', status: 502 } }),
    )
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Thresholds' }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'The bridge cannot be reached.' })
    await alert.waitFor()
    const score = page.getByRole('textbox', { name: 'Minimum score' })
    await score.fill('0.7')
    await page.unrouteAll({ behavior: 'wait' })
    await alert.getByRole('button', { name: 'Try again' }).click()
    const threshold = page.getByLabel('Z-score threshold')
    await threshold.waitFor()
    // Edits that were begun meanwhile are there when the bridge answers, and until they are stored.
    expect(await score.inputValue()).to.equal('0.7')
    await threshold.fill('3')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The thresholds are saved').waitFor()
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':disabled')).waitFor()
    expect([await score.inputValue(), await threshold.inputValue()]).to.deep.equal(['0.7', '3'])
    await score.fill('0.85')
    await threshold.fill('2.5')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save' }).and(page.locator(':disabled')).waitFor()
    expect(at.takeProblems().every(problem => problem.includes('502'))).to.equal(true)
  })

  it('incidents: nobody is told that all is quiet while the incidents cannot be read', async () => {
    page = await at.open('/upload')
    await page.route('**/api/ticketing/**', route =>
      route.fulfill({ status: 502, json: { error: 'the ticketing agent cannot be reached', status: 502 } }),
    )
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page
      .locator('small')
      .filter({ hasText: /^not known$/ })
      .waitFor()
    expect(await page.getByText('none critical or high').count()).to.equal(0)
    await page.getByRole('link', { name: 'Incidents', exact: true }).click()
    await page.getByRole('alert').getByText('The ticketing agent cannot be reached.').waitFor()
    expect(await page.getByText('All is quiet').count()).to.equal(0)
    await page.unroute('**/api/ticketing/**')
    await page.getByRole('link', { name: 'Open Health' }).click()
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    // The browser tells of the answers, too.
    expect(at.takeProblems().every(problem => problem.includes('502'))).to.equal(true)
  })

  it('say what happened and what to do when the store does not answer, and try again', async () => {
    page = await at.open('/upload')
    await page.route('**/api/search/**', route =>
      route.fulfill({ status: 502, json: { error: 'the search store cannot be reached', status: 502 } }),
    )
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'The search store cannot be reached.' }).first()
    await alert.getByText('See on Health whether the search store runs').waitFor()
    await alert.getByRole('link', { name: 'Open Health' }).waitFor()
    // Other services still answer: their parts of the page stay.
    await page
      .getByRole('region', { name: 'Open incidents' })
      .getByRole('link', { name: /^payments/ })
      .waitFor()
    await page.getByRole('region', { name: 'Ingestion' }).getByText('Message bus').waitFor()
    await page.unroute('**/api/search/**')
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table', { name: 'Services' }).waitFor()
    expect(at.takeProblems().join()).to.match(/502/)
  })
})
