/** A standalone, a browser before it, and a window for each test: what suites of the console in a browser share. */
import { expect } from 'chai'
import { after, afterEach, before } from 'mocha'
import type { Page } from 'playwright-core'
import { buildConsole, type Console, openConsole, type PageOptions, showAs } from '../../dataplane/console/testing/open-console.ts'
import { eventually, type Standalone, startStandalone } from './standalone-process.ts'

export interface ConsoleSuite {
  readonly app: Standalone
  /** Opens a path in a window that is closed after the test. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Complaints of the browser since the last call. */
  takeProblems(): readonly string[]
}

export interface ConsoleSuiteOptions {
  /** Runs before the standalone starts; resolves with settings for it. */
  readonly settings?: () => Promise<Readonly<Record<string, string>>>
  /** Fills the standalone before the browser is there. */
  readonly fill?: (app: Standalone) => Promise<void>
  /** Tests use one window after each other, emptied between them: a new one costs the browser twice as much. Not where tests set its clock or put scripts into it. */
  readonly sharesWindow?: boolean
}

/** Call it in the body of a suite, which is skipped where there is no browser. After each test the browser may have complained of nothing. */
export function useConsole({ settings, fill, sharesWindow = false }: ConsoleSuiteOptions = {}): ConsoleSuite {
  let app: Standalone
  let console: Console
  let page: Page | undefined
  before(async function () {
    buildConsole()
    app = await startStandalone(await settings?.())
    await fill?.(app)
    console = await openConsole(this, app.dashboard)
  })
  afterEach(async function () {
    const isOpen = page?.isClosed() === false
    if (isOpen && sharesWindow && this.currentTest?.state === 'passed') await emptyWindow(page!)
    else {
      await page?.context().close()
      page = undefined
    }
    expect(console.takeProblems()).to.deep.equal([])
  })
  after(async () => {
    await console?.close()
    await app?.remove()
  })
  return {
    get app() {
      return app
    },
    async open(path, options) {
      if (page === undefined || page.isClosed() || !sharesWindow) page = await console.open(path, options)
      else await goTo(page, app.dashboard + path, options)
      return page
    },
    takeProblems: () => console.takeProblems(),
  }
}

async function goTo(page: Page, url: string, options: PageOptions = {}): Promise<void> {
  await showAs(page, options)
  await page.goto(url)
  await page.locator('h1').waitFor()
}

const EMPTY = 'about:blank'

/** Nothing of a test is left for the next one but what the browser has loaded. */
async function emptyWindow(page: Page): Promise<void> {
  if (page.url() === EMPTY) return
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await page.context().clearCookies()
  await page.goto(EMPTY)
}

/** Records become an incident when the bridge has had its turns, on a busy machine too. */
export async function untilIncidents(app: Standalone, services: readonly string[], timeoutMs = 60_000): Promise<void> {
  await eventually(
    async () => {
      const incidents = (await (await fetch(`${app.ticketing}/api/incidents`)).json()) as readonly { readonly service: string }[]
      expect(incidents.map(({ service }) => service)).to.include.members([...services])
    },
    { timeoutMs, pauseMs: 250 },
  )
}
