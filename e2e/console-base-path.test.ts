/** The console below a path of a host that it shares with others, in a browser. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { useConsole } from './testing/console-suite.ts'

const PASSWORD = 'night-shift-3-am'

describe('the console below the path of PUBLIC_URL', function () {
  this.timeout(90_000)
  const at = useConsole({
    settings: async () => ({ PUBLIC_URL: 'http://127.0.0.1/ops/logs', DASHBOARD_USERNAME: 'ops', DASHBOARD_PASSWORD: PASSWORD }),
  })

  it('stays below it: form, pages, their data, a page that is loaded anew, and the way out', async () => {
    const page = await at.open('/ops/logs/incidents?status=all')
    const below = (path: string) => `${at.app.dashboard}/ops/logs${path}`
    await page.getByLabel('User name').fill('ops')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Resolved/ }).waitFor()
    expect(page.url()).to.equal(below('/incidents?status=all'))
    await page.getByRole('link', { name: 'Health', exact: true }).click()
    await page.getByText('Search store').first().waitFor()
    expect(page.url()).to.equal(below('/status'))
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    await page.getByRole('link', { name: 'logpipeline, overview' }).click()
    await page.getByText(`${below('/api/upload')}`).waitFor()
    await page.getByRole('button', { name: 'Log out', exact: true }).click()
    await page.getByRole('heading', { name: 'Log in to logpipeline' }).waitFor()
    expect(page.url()).to.equal(below('/login'))
    // The tab's picture is asked for without the password.
    await page.waitForLoadState('networkidle')
    expect(at.takeProblems().every(problem => problem.includes('401'))).to.equal(true)
  })

  it('is there without it, too, for who asks the dashboard itself', async () => {
    const page = await at.open('/ops/logs/login?next=/settings/routing')
    await page.getByLabel('User name').fill('ops')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    expect(page.url()).to.equal(`${at.app.dashboard}/settings/routing`)
    expect(at.takeProblems().every(problem => problem.includes('401'))).to.equal(true)
  })
})
