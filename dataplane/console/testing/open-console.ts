/** The console in a headless chromium, for end-to-end tests: `openConsole` builds it where it is not built, and opens pages. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { skipBecause } from '../../testing/skip-because.ts'

export type Theme = 'light' | 'dark'

export interface PageOptions {
  readonly theme?: Theme
  readonly width?: number
  readonly height?: number
  /** The zone of the browser, for pages that open in a window of their own. Default UTC. */
  readonly timeZone?: string
}

export interface Console {
  /** Opens a path such as `/logs?range=15m` in a window of its own, whose storage is empty. */
  open(path: string, options?: PageOptions): Promise<Page>
  /** Complaints of the browser since the last call: exceptions, errors on its console, refused scripts. */
  takeProblems(): readonly string[]
  close(): Promise<void>
}

const ROOT = resolve(import.meta.dirname, '../../..')
const CHROMIUMS = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 10_000
const WIDTH = 1_280
const HEIGHT = 800

/** Makes `dist/console` where it is not there or older than its sources. Call it before the dashboard starts, which reads it then. */
export function buildConsole(): void {
  execFileSync('sh', ['hack/setup.sh', 'start'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Skips the suite where there is no chromium; call it from a hook `before`, with its context. */
export async function openConsole(context: Mocha.Context, dashboard: string): Promise<Console> {
  skipWithoutChromium(context)
  return browseConsole(dashboard)
}

export function skipWithoutChromium(context: Mocha.Context): void {
  if (findChromium() === undefined) skipBecause(context, NO_CHROMIUM)
}

const findChromium = () => CHROMIUMS.find(path => path !== undefined && existsSync(path))
const NO_CHROMIUM = 'no chromium: expected one at /usr/bin/chromium, or its path in CHROMIUM'

/** The same outside of a suite. Throws where there is no chromium. */
export async function browseConsole(dashboard: string): Promise<Console> {
  const browser = await launchChromium()
  const problems: string[] = []
  return {
    open: (path, options) => openPage(browser, dashboard + path, options, problem => problems.push(problem)),
    takeProblems: () => problems.splice(0),
    close: () => browser.close(),
  }
}

/** With flags besides. Throws where there is no chromium. */
export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(NO_CHROMIUM)
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...flags] })
}

/** The window as one that is opened with these options. */
export async function showAs(page: Page, { theme = 'light', width = WIDTH, height = HEIGHT }: PageOptions): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height })
}

async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', width = WIDTH, height = HEIGHT, timeZone = 'UTC' }: PageOptions = {},
  onProblem: (problem: string) => void,
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: timeZone,
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  page.on('pageerror', error => onProblem(`exception: ${error.message}`))
  page.on('console', message => {
    if (message.type() === 'error') onProblem(`console: ${message.text()}`)
  })
  await page.goto(url)
  await page.locator('h1').waitFor()
  return page
}

/** To be evaluated on a page whose window has changed: two frames later the page is drawn for it. */
export const DRAWN = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Until nothing on the page waits for its first answer. */
export async function untilRead(page: Page): Promise<void> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

/** Places of violations alone: to name those of everything that passes takes the browser a third more. Sizes of targets are of WCAG 2.2, and off by themselves. */
const RUN_AXE = `axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(result => result.violations)`
const AXE = readFileSync(resolve(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8')

interface AxeViolation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[]
}

/** Findings of axe on the page as it stands, one line for each rule and place; WCAG 2.2 AA and axe's good practice. */
export async function findAccessProblems(page: Page): Promise<readonly string[]> {
  // Evaluated from outside, so that the page's policy against foreign scripts stays in force.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const violations = (await page.evaluate(RUN_AXE)) as readonly AxeViolation[]
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')} ${failureSummary.replace(/\s+/g, ' ')}`),
  )
}
