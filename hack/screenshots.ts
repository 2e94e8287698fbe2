/**
 * Makes the pictures of the console anew that README.md shows: a standalone of its own, a shop that breaks, a headless chromium.
 * `--all DIR` takes every page in both themes at three widths instead, for people who look for what is not right.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { buildConsole } from '../dataplane/console/testing/open-console.ts'
import { seedShop } from '../dataplane/console/testing/seed-shop.ts'
import { eventually, startStandalone } from '../e2e/testing/standalone-process.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PATIENCE = { timeoutMs: 90_000 }

interface Picture {
  readonly path: string
  readonly file: string
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly height: number
}

async function main(directory: string, listPictures: (incident: string) => readonly Picture[]): Promise<void> {
  mkdirSync(directory, { recursive: true })
  buildConsole()
  const app = await startStandalone()
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    await seedShop(app.dashboard, { endMs: Date.now() })
    const incident = await eventually(async () => {
      const incidents = (await (await fetch(`${app.dashboard}/api/ticketing/api/incidents?service=payments`)).json()) as {
        id: string
        rootCause?: object
      }[]
      if (incidents[0]?.rootCause === undefined) throw new Error('expected an incident of payments with a cause')
      return incidents[0].id
    }, PATIENCE)
    for (const { path, file, theme, width, height } of listPictures(incident)) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      const page = await context.newPage()
      await page.goto(app.dashboard + path)
      await page.waitForLoadState('networkidle', { timeout: PATIENCE.timeoutMs })
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached', timeout: PATIENCE.timeoutMs })
      await page.screenshot({ path: join(directory, file) })
      await context.close()
      console.log(join(directory, file))
    }
  } finally {
    await browser.close()
    await app.remove()
  }
}

const [flag, directory] = process.argv.slice(2)
if (flag === '--all' && directory !== undefined) {
  const pages = (incident: string) => ['/', '/logs', '/incidents', `/incidents/${incident}`, '/upload', '/status', '/settings']
  await main(resolve(directory), incident =>
    [400, 1280, 2560].flatMap(width =>
      (['light', 'dark'] as const).flatMap(theme =>
        pages(incident).map(path => ({
          ...{ path, theme, width, height: width === 400 ? 860 : width === 1280 ? 860 : 1300 },
          file: `${path.split('/').slice(0, 2).join('').replace(/^$/, 'overview')}${path.includes(incident) ? '-detail' : ''}-${width}-${theme}.png`,
        })),
      ),
    ),
  )
} else {
  await main(join(ROOT, 'docs/images'), incident => [
    { path: '/', file: 'overview.png', theme: 'light', width: 1280, height: 860 },
    { path: `/incidents/${incident}`, file: 'incident.png', theme: 'dark', width: 1280, height: 860 },
  ])
}
