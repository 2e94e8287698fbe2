/** The console at three in the morning, in a browser: nobody answers, a storm of incidents, a phone. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { seedShop } from '../dataplane/console/testing/seed-shop.ts'
import { useConsole } from './testing/console-suite.ts'
import { eventually } from './testing/standalone-process.ts'

const STALE = 'Stale: what this page shows is old.'
const LATER_MS = 45_000
const DAY_MS = 86_400_000
/** The window says by then that the console is loading. */
const LOADING_SAID_MS = 1_500

describe('the console of an engineer on call', function () {
  this.timeout(90_000)
  const at = useConsole({ fill: async app => void (await seedShop(app.dashboard, { endMs: Date.now(), minutes: 5, troubleMinutes: 0 })) })

  /** The browser's clock goes ahead while requests are treated so; until the page says that it is stale. */
  async function withoutAnswers(page: Page, how: 'hangs' | 'stopped'): Promise<void> {
    await page.route('**/*', route => (how === 'stopped' ? route.abort() : undefined))
    await page.clock.setSystemTime(Date.now() + LATER_MS)
    // An answer that was on its way may come by the new time: then it takes the whole wait until the page is stale.
    await page.getByText(STALE).waitFor({ timeout: 60_000 })
  }

  for (const how of ['hangs', 'stopped'] as const)
    it(`health: is not said to be well when the server ${how}; it is again when answers come`, async () => {
      const page = await at.open('/status')
      await page.getByText('Everything works').waitFor({ timeout: 40_000 })
      await withoutAnswers(page, how)
      await page.getByText(/Last answer \d+ s ago\./).waitFor()
      expect(await page.getByText('Everything works').count()).to.equal(0)
      expect(await page.getByText('healthy', { exact: true }).count()).to.equal(0)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.clock.setSystemTime(Date.now())
      await page.reload()
      await page.getByText('Everything works').waitFor()
      expect(await page.getByText(STALE).count()).to.equal(0)
      at.takeProblems()
    })

  it('overview: the notice goes away by itself when the server is back', async () => {
    const page = await at.open('/')
    await page.getByRole('region', { name: 'Ingestion' }).getByText('healthy').first().waitFor({ timeout: 40_000 })
    await withoutAnswers(page, 'stopped')
    await page.getByText('The dashboard does not answer.').waitFor({ timeout: 25_000 })
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByText(STALE).waitFor({ state: 'detached', timeout: 25_000 })
    at.takeProblems()
  })

  for (const how of ['hangs', 'stopped'] as const)
    it(`live tail: is not said to be live when the server ${how}; it is again when answers come`, async () => {
      const page = await at.open('/logs?mode=live')
      const tail = page.getByRole('region', { name: 'Live tail' })
      await tail.getByText('live', { exact: true }).waitFor()
      await withoutAnswers(page, how)
      await tail.getByText('waiting for the store', { exact: true }).waitFor()
      expect(await tail.getByText('live', { exact: true }).count()).to.equal(0)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.clock.setSystemTime(Date.now())
      if (how === 'hangs') await page.reload()
      await tail.getByText('live', { exact: true }).waitFor()
      await page.getByText(STALE).waitFor({ state: 'detached' })
      at.takeProblems()
    })

  for (const path of ['/', '/logs', '/logs?mode=live'])
    it(`${path}: says that records are missing while a part of the store cannot be read`, async () => {
      const page = await at.open('/upload')
      await page.route('**/_search?*', async route => {
        const response = await route.fetch()
        const answer = (await response.json()) as object
        await route.fulfill({ response, json: { ...answer, _shards: { total: 4, successful: 3, skipped: 0, failed: 1 } } })
      })
      const notice = page.getByText('Incomplete: lists and counts of this page lack records.')
      await page.getByRole('link', { name: path === '/' ? 'Overview' : 'Logs', exact: true }).click()
      if (path.includes('live')) await page.getByRole('tab', { name: 'Live' }).click()
      await notice.waitFor()
      await page.getByText('1 of 4 parts of the store cannot be read.').waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      if (path === '/') return
      await page.getByRole('button', { name: 'Read again' }).click()
      await notice.waitFor({ state: 'detached' })
    })

  for (const [off, said] of [[15, '15 min ahead of'], [-15, '15 min behind']] as const) // biome-ignore format: one line
    it(`goes by the time of the server where the computer's clock is ${said} it`, async () => {
      const message = `clock ${said}`
      const answer = await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body: JSON.stringify({ message, service: 'clock' }) })
      expect(answer.status).to.equal(200)
      const page = await at.open('/upload')
      await page.clock.setSystemTime(Date.now() + off * 60_000)
      for (const path of ['/logs?mode=live&q=clock', `/logs?range=5m&q=service%3Aclock`]) {
        await page.goto(at.app.dashboard + path)
        await page.getByText(`The clock of this computer is ${said} the server's.`).waitFor()
        await page.getByRole('row').filter({ hasText: message }).waitFor()
      }
      await page.getByRole('link', { name: 'Overview', exact: true }).click()
      const age = page.getByRole('region', { name: 'Ingestion' }).getByText(/ ago$|just now/).first() // biome-ignore format: one line
      await age.waitFor()
      expect(await age.textContent()).to.match(/^(just now|\d+ s ago)$/)
    })

  it('says in which zone times are, on paper too, and shows them in UTC where one likes', async () => {
    const page = await at.open('/logs?q=service%3Astorefront', { timeZone: 'Asia/Kolkata' })
    const row = page.getByRole('row').filter({ hasText: 'storefront' }).first()
    const minutes = async () => {
      const [, hour, minute] = /(\d\d):(\d\d):\d\d\.\d{3}/.exec(await row.innerText()) ?? []
      return Number(hour) * 60 + Number(minute)
    }
    const local = await minutes()
    await page.emulateMedia({ media: 'print' })
    await page.getByRole('button', { name: 'UTC+5:30: show times in UTC' }).waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).to.equal(0)
    await page.emulateMedia({ media: 'screen' })
    for (const key of ['g', 'c']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'UTC: show times in Asia/Calcutta' }).waitFor()
    expect((local - (await minutes()) + 1_440) % 1_440).to.equal(330)
    await page.reload()
    await page.getByRole('button', { name: 'UTC: show times in Asia/Calcutta' }).waitFor()
  })

  it('ages are right at once on a page that is opened after a while on others', async () => {
    const page = await at.open('/')
    const age = page.getByRole('region', { name: 'Ingestion' }).getByText(/ ago$|just now/)
    await age.first().waitFor()
    await page.getByRole('link', { name: 'Upload', exact: true }).click()
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    await page.clock.setSystemTime(Date.now() + 40 * 60_000)
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    expect(await age.first().textContent()).to.match(/^4\d min ago$/)
  })

  it('over a slow network, the window says that the console is loading, and not once it is there', async () => {
    const page = await at.open('/upload')
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async route => {
      await held.promise
      await route.continue()
    })
    const loading = page.getByText('The console is loading…')
    await page.goto(`${at.app.dashboard}/incidents`, { waitUntil: 'commit' })
    await loading.waitFor()
    held.resolve()
    await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
    expect(await loading.count()).to.equal(0)
  })

  it('without scripts the window says that the console needs them, not that it is loading', async () => {
    const scripted = await at.open('/upload')
    const context = await scripted.context().browser()!.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(at.app.dashboard)
    await page.waitForTimeout(LOADING_SAID_MS)
    const said = await page.locator('body').innerText()
    expect(said).to.contain('needs JavaScript').and.not.to.contain('is loading')
    await page.getByRole('link').click()
    await page.waitForURL(/\/api\/ticketing\/api\/incidents$/)
    await context.close()
  })

  it('a silence that begins now holds at once, one that is planned is listed as coming', async () => {
    const page = await at.open('/settings/silences')
    await page.getByLabel('Services').fill('mailer')
    await page.getByLabel('Reason').fill('planned work')
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const row = page.getByRole('table', { name: 'Silences' }).getByRole('row', { name: /mailer/ })
    await row.waitFor()
    expect(await row.getByRole('cell').first().textContent()).to.equal('active')

    // Planned work is silenced beforehand.
    await page.getByLabel('Services').fill('accounts')
    await page.getByLabel('Begins').fill(new Date(Date.now() + DAY_MS).toISOString().slice(0, 16))
    await page.getByLabel('Reason').fill('upgrade of the database')
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const planned = page.getByRole('table', { name: 'Silences' }).getByRole('row', { name: /accounts/ })
    await planned.getByText('coming', { exact: true }).waitFor()
    await planned.getByRole('button', { name: 'Cancel: accounts' }).click()
    await planned.waitFor({ state: 'detached' })
  })

  it('a page that was never opened: says that it cannot be loaded while the server is away, and is loaded once the server is back', async () => {
    const page = await at.open('/settings/silences')
    await page.route('**/*', route => route.abort())
    await page.getByRole('link', { name: 'API keys', exact: true }).click()
    const failure = page.getByRole('alert').getByText('This part of the console could not be loaded.')
    await failure.waitFor()
    await page.getByRole('link', { name: 'Silences', exact: true }).click()
    await page.getByRole('heading', { name: 'New silence' }).waitFor()
    await page.getByRole('link', { name: 'Incidents', exact: true }).click()
    await failure.waitFor()
    await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').getByText('The dashboard does not answer.').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('All is quiet').waitFor()
    at.takeProblems()
  })

  it('search: pauses in typing are no steps back, what was searched for is one', async () => {
    const page = await at.open('/logs')
    const searched = (text: string) => page.waitForURL(url => (url.searchParams.get('q') ?? '') === text)
    const box = page.getByRole('combobox', { name: 'Search logs' })
    await box.pressSequentially('err')
    await searched('err')
    await box.pressSequentially('or')
    await searched('error')
    await box.press('Enter')
    await box.pressSequentially(' cart')
    await searched('error cart')
    await page.goBack()
    await searched('error')
    // The address changes first.
    await eventually(async () => expect(await box.inputValue()).to.equal('error'))
    await page.goBack()
    await searched('')

    // A search that one comes back to is one click away, in other windows too.
    await box.fill('level:ERROR')
    await box.press('Enter')
    await searched('level:ERROR')
    const other = await page.context().newPage()
    // The other one has seen an empty list, and is at another page when an entry is saved.
    await other.goto(`${at.app.dashboard}/logs?range=3h`)
    await other.getByRole('button', { name: 'Views' }).waitFor()
    await other.getByRole('link', { name: 'Upload', exact: true }).click()
    await other.getByRole('button', { name: 'Choose files' }).waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Save this view as').fill('Errors')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.keyboard.press('Escape')
    const chip = (window: Page) => window.getByRole('navigation', { name: 'Saved views' }).getByRole('link', { name: 'Errors' })
    expect(await chip(page).getAttribute('aria-current')).to.equal('true')
    await other.getByRole('link', { name: 'Logs', exact: true }).click()
    await chip(other).click()
    await other.waitForURL(url => url.search === '?q=level%3AERROR')
    await other.getByRole('button', { name: 'Views' }).click()
    const views = other.getByRole('dialog')
    await views.getByRole('button', { name: 'Delete Errors' }).press('Enter')
    await chip(page).waitFor({ state: 'detached' })
    // The button is gone, and the focus is still in what is open.
    await views.and(other.locator(':focus, :has(:focus)')).waitFor()
  })

  it('search: `/` leads to the end of what is searched for, and begins a word of its own there', async () => {
    const page = await at.open('/logs?q=service:storefront')
    await page
      .getByRole('row', { name: /storefront/ })
      .first()
      .waitFor()
    // Keys are quicker than a slow machine shows the next frame.
    await page.evaluate('window.requestAnimationFrame = show => setTimeout(() => show(performance.now()), 300)')
    await page.keyboard.press('/')
    await page.keyboard.type('products', { delay: 60 })
    await page.waitForURL(url => url.searchParams.get('q') === 'service:storefront products')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('-GET')
    await page.waitForURL(url => url.searchParams.get('q') === 'service:storefront products -GET')
  })

  it('search: says of a field that no record has, and of one that is written otherwise, why nothing is found', async () => {
    const page = await at.open(`/logs?q=${encodeURIComponent('svc:cart level=ERROR thread.name:nobody')}`)
    await page.getByText('No record has a field svc.').waitFor()
    await page.getByText('A value of a field is written with a colon: level:ERROR').waitFor()
    expect(await page.getByText('No record has a field').count()).to.equal(1)
  })

  it('a trace of an hour ago is one click from its id in the search, and its messages stay in sight beside an open record', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const record = (message: string, second: number) => ({
      ...{ message, service: 'checkout', trace_id: trace, timestamp: new Date(Date.now() - 3_600_000 + second * 1_000).toISOString() },
    })
    const body = JSON.stringify([record('order 4711 begun', 0), record('order 4711 charged', 1)])
    expect((await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body })).status).to.equal(200)
    const page = await at.open(`/logs?range=5m&q=${trace}`, { width: 1_280 })
    await page.getByRole('button', { name: 'Its trace, of any time' }).click()
    const message = page.getByRole('list', { name: 'Records of the trace' }).getByText('order 4711 charged')
    await message.click()
    await page.getByRole('region', { name: 'Record', exact: true }).waitFor()
    await eventually(async () => expect((await message.boundingBox())!.width).to.be.above(150))
  })

  it('a phone: ways out of a record lead to their result, also of one that was opened just now', async () => {
    const page = await at.open('/logs?range=1h', { width: 390, height: 844 })
    const row = page
      .getByRole('region', { name: 'Records' })
      .getByText(/GET \/products/)
      .first()
    await row.click()
    const record = page.getByRole('region', { name: 'Record', exact: true })
    await record.getByRole('button', { name: 'Messages like this' }).click()
    await page.waitForURL(/pattern_id/)
    await record.waitFor({ state: 'detached' })
    await page.waitForTimeout(400)
    expect([await record.count(), new URL(page.url()).searchParams.has('record')]).to.deep.equal([0, false])
    await row.click()
    await page.waitForURL(/record=/)
    await record.getByRole('button', { name: /^Only service/ }).click()
    await record.waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('record')).to.equal(null)
  })
})
