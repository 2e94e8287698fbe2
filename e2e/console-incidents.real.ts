/** Incidents and settings in a browser, on a standalone with stub platforms: what is wrong, what was done, who is told. */
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { buildConsole, type Console, findAccessProblems, openConsole, type PageOptions } from '../dataplane/console/testing/open-console.ts'
import { countDocuments, postRecords, type SentRecord } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'
import {
  faultRecords,
  incidentOf,
  makeIncident,
  type ShownIncident,
  startTicketFixture,
  type TicketFixture,
  untilDispatched,
} from './testing/ticket-fixture.ts'

const SERVICES = ['cart', 'search', 'mail', 'images', 'export', 'races', 'stats', 'report'] as const
const SECTIONS = ['platforms', 'routing', 'thresholds', 'silences', 'escalation', 'model'] as const

describe('the console: incidents and settings', function () {
  this.timeout(120_000)
  let at: TicketFixture
  let console: Console
  let page: Page
  before(async function () {
    buildConsole()
    at = await startTicketFixture({ routing: { critical: ['jira', 'slack'], high: ['jira', 'slack'], medium: ['slack'] } })
    console = await openConsole(this, at.app.dashboard)
    for (const service of SERVICES) await makeIncident(at, service, service === 'cart' ? 'critical' : 'medium')
    for (const service of SERVICES) await untilDispatched(at, service)
  })
  afterEach(async () => {
    await page?.context().close()
  })
  after(async () => {
    await console?.close()
    await at?.stop()
  })

  const open = async (path: string, options?: PageOptions) => {
    page = await console.open(path, options)
    return page
  }
  const openIncident = async (service: string, options?: PageOptions) => {
    const incident = await incidentOf(at, service)
    await open(`/incidents/${incident.id}`, options)
    await detail(service).waitFor()
    return incident
  }
  const detail = (service: string) => page.getByRole('article', { name: `Incident of ${service}` })
  const rows = () => page.getByRole('list', { name: 'Incidents' }).getByRole('listitem')
  const statusOf = async (service: string) => (await incidentOf(at, service)).status
  const untilStatus = (service: string, status: string) =>
    eventually(async () => expect(await statusOf(service)).to.equal(status), { timeoutMs: 10_000, pauseMs: 100 })
  const section = (name: string) => page.getByRole('region', { name })
  const audit = async ({ id }: ShownIncident) => (await at.api.get(`/api/v1/audit?incident_id=${id}`)).body.entries as { details: string }[]

  describe('the list', () => {
    it('shows the most severe first, with counts, and the incident beside it', async () => {
      await open('/incidents')
      await page.getByRole('button', { name: `Unresolved ${SERVICES.length}` }).waitFor()
      await rows().first().getByText('critical').waitFor()
      await detail('cart').getByRole('heading', { level: 2 }).first().waitFor()
    })

    it('is filtered by severity and service; the filters stand in the URL', async () => {
      await open('/incidents')
      await page.getByRole('combobox', { name: 'Severity' }).click()
      await page.getByRole('option', { name: 'critical (1)' }).click()
      await page.waitForURL(/severity=critical/)
      await eventually(async () => expect(await rows().count()).to.equal(1))
      await open('/incidents?service=mail')
      await rows().getByText('mail').first().waitFor()
      expect(await rows().count()).to.equal(1)
      await open('/incidents?status=resolved&service=nobody')
      await page.getByRole('button', { name: 'Clear the filters' }).click()
      await page.waitForURL(/\/incidents$/)
    })

    it('is walked with j, k and Enter', async () => {
      await open('/incidents', { width: 800 })
      await rows().first().waitFor()
      const titles = await rows()
        .getByRole('link')
        .evaluateAll(links => links.map(link => (link as unknown as { href: string }).href))
      for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
      await page.waitForURL(url => url.href === titles[1])
      await page.getByRole('link', { name: 'All incidents' }).click()
      await rows().first().waitFor()
    })

    it('changes many at once, and says what it left out', async () => {
      const acted = await incidentOf(at, 'export')
      await at.api.send('POST', `/api/incidents/${acted.id}/resolve`)
      await open('/incidents?status=all&order=newest', { width: 800 })
      for (const service of ['images', 'export']) await rows().filter({ hasText: service }).getByRole('checkbox').check()
      await page.getByRole('toolbar').getByRole('button', { name: 'Acknowledge 1' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: 'Note' }).fill('all of one deploy')
      await dialog.getByRole('button', { name: 'Acknowledge' }).click()
      await page.getByText(/1 incident acknowledged, 1 left as it is: .*resolved/).waitFor()
      await untilStatus('images', 'acknowledged')
      expect((await audit(await incidentOf(at, 'images'))).map(({ details }) => details)).to.include('acknowledged: all of one deploy')
    })

    it('folds away recurring ones, and says how many', async () => {
      const whole = (await at.api.get(`/api/incidents/${(await incidentOf(at, 'stats')).id}`)).body
      const { dispatches: _, ...recurring } = {
        ...whole,
        id: 'recurring-1',
        recurring: true,
        service: 'noisy',
        title: 'noisy: known noise',
      }
      const answer = await fetch(`${at.app.search}/service-incidents-default/_doc/recurring-1?refresh=true`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(recurring),
      })
      expect(answer.ok).to.equal(true)
      await open('/incidents')
      await page.getByText('1 recurring incident folded away').waitFor()
      expect(await rows().filter({ hasText: 'noisy' }).count()).to.equal(0)
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await rows().filter({ hasText: 'noisy' }).waitFor()
      await page.waitForURL(/recurring=show/)
    })
  })

  describe('an incident', () => {
    it('says what happened, what shows it, who was told, and what to do', async () => {
      const incident = await openIncident('cart')
      const shown = detail('cart')
      await shown.getByText(/^cart logged 3 anomalies, most often “payment failed: connection refused”/).waitFor()
      await shown.getByText(/^Next/).waitFor()
      await section('Evidence').getByText('payment failed: connection refused').first().waitFor()
      const logs = section('Evidence').getByRole('link', { name: /show in Logs/ })
      const href = decodeURIComponent((await logs.getAttribute('href')) ?? '').replaceAll('+', ' ')
      expect(href).to.match(/^\/logs\?q=service:cart pattern_id:[0-9a-f]{16}&from=.*&to=/)
      await section('Evidence').getByText('FATAL').first().waitFor()
      const ticket = section('Tickets').getByRole('link', { name: /^Jira/ })
      expect(await ticket.getAttribute('href')).to.equal(incident.dispatches!['jira']!.url)
      await section('Timeline').getByText('Incident opened').waitFor()
      await section('Timeline').getByText('Jira told').waitFor()
    })

    it('each reason of a cause leads to the logs that show it', async () => {
      const now = Date.now()
      const records = (service: string, body: string, severityText: string, atMs: number, every: number, count: number): SentRecord[] =>
        Array.from({ length: count }, (_, i) => ({
          ...{ id: `${service}-${body}-${i}`, service, body, severityText, attempt: 1 },
          timeUnixNano: `${BigInt(atMs + i * every) * 1_000_000n}`,
        }))
      expect(await postRecords(at.app.collector, records('ledger', 'booked an entry', 'INFO', now - 1_500_000, 1_000, 1_400))).to.equal(200)
      expect(
        await postRecords(at.app.collector, records('ledger', 'booking failed: timeout of the disk', 'ERROR', now - 60_000, 1_000, 50)),
      ).to.equal(200)
      // Other services of the suite fail in the same minutes, so another one may stand first.
      const blamed = await eventually(
        async () => {
          const [first] = (await incidentOf(at, 'ledger')).rootCause?.candidates ?? []
          if (first === undefined) throw new Error('expected a cause, seen none')
          return first.service
        },
        { timeoutMs: 60_000, pauseMs: 250 },
      )
      await openIncident('ledger')
      const links = section('Likely cause').getByRole('link', { name: 'shown in Logs' })
      await links.first().waitFor()
      const hrefs = await links.evaluateAll(all => all.map(link => (link as unknown as { href: string }).href))
      for (const href of hrefs) expect(href).to.match(/\/logs\?q=service%3A.*&from=.*&to=/)
      expect(hrefs.join()).to.contain(`q=service%3A${blamed}`)
      await page.keyboard.press('l')
      await page.waitForURL(hrefs[0]!)
    })

    it('is acknowledged with a, with name and note, and resolved with r', async () => {
      const incident = await openIncident('search')
      await page.getByRole('textbox', { name: 'Your name, kept in this browser' }).fill('ada')
      await page.getByRole('textbox', { name: /^Note/ }).fill('it is the new index')
      await page.getByRole('heading', { level: 1 }).click()
      await page.keyboard.press('a')
      await detail('search').getByText('acknowledged', { exact: true }).waitFor()
      await untilStatus('search', 'acknowledged')
      await section('Timeline').getByText('it is the new index').waitFor()
      await section('Timeline').getByText('by ada').waitFor()
      await page.keyboard.press('r')
      await untilStatus('search', 'resolved')
      expect((await audit(incident)).map(({ details }) => details)).to.include.members([
        'acknowledged by ada: it is the new index',
        'resolved by ada',
      ])
      await page.getByRole('button', { name: 'Reopen' }).click()
      await untilStatus('search', 'open')
    })

    it('keeps a note that was begun by another clock, on other pages and after a reload, until it is sent', async () => {
      const incident = await openIncident('report', { timeZone: 'Asia/Kolkata' })
      const note = () => page.getByRole('textbox', { name: /^Note/ })
      await note().fill('half a sentence')
      await page.keyboard.press('Escape')
      for (const key of ['g', 'c']) await page.keyboard.press(key)
      await page.getByRole('button', { name: /^UTC: show times in/ }).waitFor()
      expect(await note().inputValue()).to.equal('half a sentence')
      await section('Evidence')
        .getByRole('link', { name: /show in Logs/ })
        .click()
      await page.getByRole('grid').waitFor()
      await page.goBack()
      await note().waitFor()
      await page.reload()
      await note().waitFor()
      expect(await note().inputValue()).to.equal('half a sentence')
      await page.getByRole('button', { name: 'Comment' }).click()
      await section('Timeline').getByText('half a sentence').waitFor()
      await page.reload()
      await note().waitFor()
      expect(await note().inputValue()).to.equal('')
      expect((await audit(incident)).map(({ details }) => details).join()).to.contain('half a sentence')
    })

    it('is escalated after a question, and says who is told', async () => {
      await openIncident('mail')
      await detail('mail').getByRole('button', { name: 'Escalate' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Escalate' }).click()
      await page.getByText('Incident escalated: jira is told').waitFor()
      await untilStatus('mail', 'escalated')
    })

    it('a change that is refused is taken back, with the reason', async () => {
      const { id } = await openIncident('races')
      await page.route('**/acknowledge', async route => {
        await at.api.send('POST', `/api/incidents/${id}/resolve`, { actor: 'somebody else' })
        await route.continue()
      })
      await detail('races').getByRole('button', { name: 'Acknowledge' }).click()
      await page.getByText('Not acknowledged').waitFor()
      await page.getByText(/The incident changed meanwhile: cannot acknowledge an incident that is resolved/).waitFor()
      await detail('races').getByText('resolved', { exact: true }).waitFor()
      console.takeProblems()
    })

    it('a ticket that failed says why, and is tried again', async () => {
      at.stubs.fault('slack', { kind: 'status', status: 400 })
      await makeIncident(at, 'untold')
      await untilDispatched(at, 'untold', { status: 'failed' })
      await openIncident('untold')
      await section('Tickets').getByText(/400/).waitFor()
      await detail('untold')
        .getByText(/^Next Slack was not told: retry below/)
        .waitFor()
      await section('Tickets').getByRole('button', { name: 'Retry Slack' }).click()
      await section('Tickets').getByText('Told', { exact: true }).waitFor()
    })

    it('whose model could not be used has the badge Fallback', async () => {
      await at.api.send('PATCH', '/api/v1/config/llm', { provider: 'ollama', model: 'llama3.1', baseUrl: 'http://127.0.0.1:9' })
      await makeIncident(at, 'fallback', 'high')
      await eventually(async () => expect((await incidentOf(at, 'fallback')).rootCause?.fallback).to.equal(true), { timeoutMs: 30_000 })
      await openIncident('fallback')
      await detail('fallback').getByText('Fallback', { exact: true }).waitFor()
      await rows().filter({ hasText: 'fallback' }).getByText('Fallback', { exact: true }).first().waitFor()
    })

    it('that nobody knows says so', async () => {
      await open('/incidents/nobody')
      await page.getByText(/nobody/).waitFor()
      console.takeProblems()
    })
  })

  describe('settings', () => {
    it('show which section is open, where the sections are a row that scrolls', async () => {
      await open('/settings/api-keys', { width: 400 })
      const current = page.getByRole('navigation', { name: 'Sections of the settings' }).getByRole('link', { name: 'API keys' })
      const box = await current.boundingBox()
      expect(box!.x).to.be.at.least(0)
      expect(box!.x + box!.width).to.be.at.most(400)
    })

    it('a second Slack channel is tested, then saved; its secret is never shown again', async () => {
      const secret = `${at.stubs.addresses.slack}/services/T0DEMO/B0DEMO/payments`
      await open('/settings/platforms')
      await page.getByRole('button', { name: 'Add a platform' }).click()
      await page.getByRole('menuitem', { name: 'Slack' }).click()
      const form = section('New: Slack')
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByText('slack is there already').waitFor()
      await form.getByText('Webhook URL is needed').waitFor()
      await form.getByRole('textbox', { name: 'Name' }).fill('payments')
      await form
        .getByLabel(/^Webhook URL/)
        .first()
        .fill(`${at.stubs.addresses.slack}/nothing-there`)
      await form.getByRole('button', { name: 'Test the connection' }).click()
      await form.getByText(/^It does not work/).waitFor()
      await form
        .getByLabel(/^Webhook URL/)
        .first()
        .fill(secret)
      await form.getByRole('button', { name: 'Test the connection' }).click()
      await form.getByText(/^It works/).waitFor()
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Slack · payments is saved').waitFor()
      const saved = section('Slack · payments')
      await saved.getByRole('button', { name: 'Edit Slack · payments' }).click()
      await saved.getByPlaceholder('•••• stored; type to replace').waitFor()
      expect(await page.content()).not.to.contain('B0DEMO/payments')
      await saved.getByRole('textbox', { name: 'Mention', exact: true }).fill('@here')
      await saved.getByRole('button', { name: 'Save' }).click()
      await eventually(async () => {
        const { platforms } = (await at.api.get('/api/v1/config')).body
        expect(platforms['slack:payments']).to.deep.equal({ enabled: true, webhookUrl: '****', mention: '@here' })
      })
      // The secret is the stored one still.
      const answer = await at.api.send('POST', '/api/v1/test-connection', { platform: 'slack:payments' })
      expect(answer.body).to.include({ status: 'ok' })
      await saved.getByRole('button', { name: 'Edit Slack · payments' }).click()
      await saved.getByRole('button', { name: 'Remove', exact: true }).click()
      await saved.getByRole('button', { name: 'Remove it for good' }).click()
      await saved.waitFor({ state: 'detached' })
    })

    it('the routing is a matrix, saved with each click', async () => {
      await open('/settings/routing')
      await page.getByText(/^Nobody is told of low incidents/).waitFor()
      await page.getByRole('checkbox', { name: 'E-mail is told of low incidents' }).click()
      await eventually(async () => expect((await at.api.get('/api/v1/config')).body.routing.low).to.deep.equal(['email']))
      await page.getByText(/^Nobody is told/).waitFor({ state: 'hidden' })
    })

    it('what a resource declares is read, with its owner, and not changed', async () => {
      const { body: config } = await at.api.get('/api/v1/config')
      const routes = [{ owner: 'shop/night', platform: 'jira', severities: ['critical'], escalation: false }]
      const declared = { platforms: { jira: 'shop/night' }, routes, anomaly: { minimumScore: 0.9 }, llm: { provider: 'ollama' } }
      await open('/settings/routing')
      await page.route('**/api/v1/config', route => route.fulfill({ json: { ...config, declared } }))
      await page.reload()
      expect(
        await page.getByRole('checkbox', { name: 'Slack is told of critical incidents; declared by shop/night' }).isDisabled(),
      ).to.equal(true)
      await page.getByRole('link', { name: 'Platforms' }).click()
      await section('Jira').getByText('shop/night').waitFor()
      await section('Jira').getByRole('button', { name: 'View Jira' }).click()
      expect(await section('Jira').getByRole('button', { name: 'Save' }).count()).to.equal(0)
      await page.getByRole('link', { name: 'Thresholds' }).click()
      expect(await page.getByRole('textbox', { name: 'Minimum score' }).getAttribute('readonly')).to.not.equal(null)
    })

    it('thresholds show what they would have caught in the last day before they are saved', async () => {
      const [lone] = faultRecords('lone', 'medium', 1)
      await postRecords(at.app.collector, [lone!])
      await eventually(async () =>
        expect(await countDocuments(at.app.search, 'service-anomalies-*', { term: { service: 'lone' } })).to.equal(1),
      )
      await open('/settings/thresholds')
      const caught = section('In the last 24 hours')
      await caught.getByText('As many incidents as with the stored thresholds.').waitFor()
      await page.getByRole('textbox', { name: 'Minimum score' }).fill('0.4')
      await caught.getByText(/^\d+ more incidents? than with the stored thresholds\.$/).waitFor()
      await page.getByRole('textbox', { name: 'Look-back' }).fill('20m')
      await page.getByRole('textbox', { name: 'Minimum score' }).fill('0.8')
      await page.getByRole('textbox', { name: 'Window' }).fill('60')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The thresholds are saved').waitFor()
      expect((await at.api.get('/api/v1/config')).body.anomaly).to.include({ minimumScore: 0.8, lookbackWindow: '20m' })
      const bridge = (await (await fetch(`${at.app.bridge}/config`)).json()) as object
      expect(bridge).to.include({ windowSize: 60 })
    })

    it('a silence is made from an incident, and ended', async () => {
      await openIncident('report')
      await page.getByRole('link', { name: 'Silence report…' }).click()
      await page.getByRole('textbox', { name: 'Reason' }).fill('a planned import')
      await page.getByRole('button', { name: 'Silence', exact: true }).click()
      const silences = page.getByRole('table', { name: 'Silences' })
      await silences.getByText('a planned import').waitFor()
      await silences.getByText('active').waitFor()
      await page.getByRole('button', { name: 'End now: report' }).click()
      await eventually(async () => expect((await at.api.get('/api/v1/silences')).body).to.deep.equal([]))
    })

    it('escalation by itself is a duration for each severity', async () => {
      await open('/settings/escalation')
      await page.getByRole('textbox', { name: 'critical' }).fill('soon')
      await page.getByText(/^Expected a duration/).waitFor()
      await page.getByRole('textbox', { name: 'critical' }).fill('30m')
      await page.getByRole('button', { name: 'Save' }).click()
      await eventually(async () => expect((await at.api.get('/api/v1/config')).body.escalation.critical).to.equal('30m'))
    })

    it('the model says whether it answers, and is tested before it is saved', async () => {
      await at.api.send('PATCH', '/api/v1/config/llm', { provider: 'none', model: '' })
      await open('/settings/model')
      await section('Status').getByText('not configured').waitFor()
      await page.getByRole('combobox', { name: 'Provider' }).click()
      await page.getByRole('option', { name: 'Ollama' }).click()
      await page.getByRole('textbox', { name: 'Model' }).fill('llama3.1')
      await page.getByRole('textbox', { name: 'Base URL' }).fill('http://127.0.0.1:9')
      await page.getByRole('button', { name: 'Test the model' }).click()
      await page.getByText(/^It does not work/).waitFor()
      await page.getByRole('button', { name: 'Save all the same' }).click()
      await eventually(async () => expect((await at.api.get('/api/v1/config')).body.llm).to.include({ provider: 'ollama' }))
      await page.getByRole('button', { name: 'Ask again' }).click()
      await section('Status').getByText('degraded').waitFor()
    })
  })

  for (const [theme, width] of [
    ['light', 400],
    ['dark', 1280],
  ] as const)
    it(`axe finds nothing at ${width} px in ${theme}, and nothing is wider than the window`, async () => {
      const { id } = await incidentOf(at, 'cart')
      for (const path of ['/incidents', `/incidents/${id}`, ...SECTIONS.map(name => `/settings/${name}`)]) {
        await open(path, { theme, width })
        await page.waitForLoadState('networkidle')
        expect(await findAccessProblems(page), path).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), path).to.be.at.most(0)
        await page.context().close()
      }
      expect(console.takeProblems()).to.deep.equal([])
    })
})
