import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SETTINGS } from '../contract/env.ts'
import { ROLE_NAMES, ROLES } from '../contract/roles.ts'
import { settingsTable } from './settings-table.ts'
import { roleUsage, usage } from './usage.ts'

const PAGE = new URL('../../docs/settings.md', import.meta.url)

describe('settings table', () => {
  it('has a row for every setting, with defaults that differ by role', () => {
    const table = settingsTable()
    for (const name of Object.keys(SETTINGS)) expect(table).to.contain(`| \`${name}\` |`)
    expect(table).to.contain(
      'standalone: `127.0.0.1`; gateway, dashboard, collector, bridge, stream etl, stream score, ticketing, agent, features, scheduler, search, operator: `0.0.0.0`',
    )
  })

  it('stands in docs/settings.md as it is (hack/node hack/settings-table.ts --write)', () => {
    const page = readFileSync(PAGE, 'utf8')
    const lines = page.split('\n')
    const changed = settingsTable()
      .split('\n')
      .filter(row => !lines.includes(row))
    expect(changed, 'rows that the page lacks').to.deep.equal([])
    expect(page.includes(settingsTable()), 'the page has the rows of the table in its order, and no others').to.equal(true)
  })

  it('neither the table nor the help of a role shows an empty default', () => {
    expect(settingsTable()).to.not.contain('| `` |')
    for (const name of ROLE_NAMES) expect(roleUsage(name)).to.not.contain('(default )')
  })

  it('the help text names every role, and every port setting exists', () => {
    for (const name of ROLE_NAMES) expect(usage()).to.contain(`\n  ${name} `)
    for (const { listens } of Object.values(ROLES)) for (const { setting } of listens) expect(SETTINGS).to.have.property(setting)
  })
})
