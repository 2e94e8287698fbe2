/** The console behind a user name and a password, in a browser. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Page } from 'playwright-core'
import { findAccessProblems } from '../dataplane/console/testing/open-console.ts'
import { useConsole } from './testing/console-suite.ts'

const USERNAME = 'ops'
const PASSWORD = 'night-shift-3-am'

describe('the console behind a password', function () {
  this.timeout(90_000)
  const at = useConsole({ settings: async () => ({ DASHBOARD_USERNAME: USERNAME, DASHBOARD_PASSWORD: PASSWORD }) })

  async function logIn(page: Page, password: string): Promise<void> {
    await page.getByLabel('User name').fill(USERNAME)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
  }

  for (const theme of ['light', 'dark'] as const)
    it(`a link leads through the form to its page, also after a wrong password, in ${theme}`, async () => {
      const page = await at.open('/logs?q=level%3AERROR&range=3h', { theme })
      await page.getByRole('heading', { name: 'Log in to logpipeline' }).waitFor()
      await logIn(page, 'wrong')
      await page.getByRole('alert').waitFor()
      expect(await findAccessProblems(page)).to.deep.equal([])
      await logIn(page, PASSWORD)
      await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
      expect(page.url()).to.equal(`${at.app.dashboard}/logs?q=level%3AERROR&range=3h`)
      expect(at.takeProblems().every(problem => problem.includes('401'))).to.equal(true)
    })

  it('a session that has ended says so on the page, and the way back leads through the form', async () => {
    const page = await at.open('/incidents?status=all')
    await logIn(page, PASSWORD)
    const resolved = page.getByRole('button', { name: /^Resolved/ })
    await resolved.waitFor()
    await page.context().clearCookies()
    await resolved.click()
    await page.getByText('Log in again, in another tab if something here is not saved yet.').waitFor()
    await page.getByRole('link', { name: 'Log in', exact: true }).first().click()
    await logIn(page, PASSWORD)
    await resolved.waitFor()
    expect(new URL(page.url()).searchParams.get('status')).to.equal('resolved')
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Upload', exact: true }).click()
    await page.getByText('This part of the console could not be loaded.').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await logIn(page, PASSWORD)
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    expect(at.takeProblems().every(problem => /401|could not be loaded|MIME type/.test(problem))).to.equal(true)
  })

  it('one logs out by a button, and a step back shows nothing of before', async () => {
    const page = await at.open('/incidents')
    await logIn(page, PASSWORD)
    await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
    await page.getByRole('button', { name: 'Log out', exact: true }).click()
    await page.getByRole('heading', { name: 'Log in to logpipeline' }).waitFor()
    await page.goBack()
    // The browser may have kept the page; what it showed is not there any more.
    await page.getByRole('link', { name: 'Log in', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Log in to logpipeline' }).waitFor()
    expect(at.takeProblems().every(problem => problem.includes('401'))).to.equal(true)
  })
})
