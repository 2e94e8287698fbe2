/**
 * Makes the README's pictures anew: a standalone of its own, on which the demo shop breaks, seen by a headless chromium.
 * `hack/node hack/screenshots.ts`, in a minute; writes `docs/images`.
 */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { browseConsole, buildConsole } from '../dataplane/console/testing/open-console.ts'
import { PROGRAM, startStandalone } from '../e2e/testing/standalone-process.ts'

const DIRECTORY = resolve(import.meta.dirname, '../docs/images')
const SIZE = { width: 1440, height: 900 } as const
/** Charts are drawn and answers are in by then. */
const SETTLE_MS = 3_000

interface Picture {
  readonly file: string
  readonly theme: 'light' | 'dark'
  /** Path of the console's page. */
  readonly path: (incidentId: string) => string
}

const PICTURES: readonly Picture[] = [
  { file: 'incident.png', theme: 'light', path: id => `/incidents/${id}` },
  { file: 'logs.png', theme: 'dark', path: () => '/logs' },
]

buildConsole()
const app = await startStandalone()
try {
  const args = [
    'demo',
    '--fault',
    'bad-deploy',
    '--seed',
    '7',
    '--history',
    '15',
    '--at-once',
    '--endpoint',
    app.collector,
    '--console',
    app.dashboard,
  ]
  const { stdout } = await promisify(execFile)(PROGRAM, args)
  process.stdout.write(stdout)
  const [, id] = /\/incidents\/(\S+)/.exec(stdout)!
  mkdirSync(DIRECTORY, { recursive: true })
  const browser = await browseConsole(app.dashboard)
  for (const { file, theme, path } of PICTURES) {
    const page = await browser.open(path(id!), { theme, ...SIZE })
    await settled(page)
    await page.screenshot({ path: resolve(DIRECTORY, file) })
    process.stdout.write(`docs/images/${file}\n`)
  }
  for (const problem of browser.takeProblems()) process.stderr.write(`${problem}\n`)
  await browser.close()
} finally {
  await app.remove()
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => undefined)
  await page.waitForTimeout(SETTLE_MS)
}
