import { expect } from 'chai'
import { describe, it } from 'mocha'
import { PLATFORM_NAMES } from '../../../../contract/platforms.ts'
import { changePlatforms, type StoredTarget } from '../../../../domain/tickets/change-platforms.ts'
import { fieldNames } from '../../../../domain/tickets/platform-field.ts'
import {
  editedFields,
  forgetSecret,
  formChange,
  formFields,
  formProblems,
  isChanged,
  nameProblem,
  openForm,
  setValue,
  titleOfTarget,
} from './platform-form.ts'

describe('forms of platforms', () => {
  for (const platform of PLATFORM_NAMES)
    it(`of ${platform} has every field of the list, in words, the required first`, () => {
      const fields = formFields(platform)
      expect(fields.map(({ name }) => name)).to.have.members(fieldNames(platform))
      expect(fields.filter(({ label, name }) => label === name)).to.deep.equal([])
      const required = fields.map(({ isRequired }) => isRequired)
      expect(required).to.deep.equal([...required].sort((a, b) => Number(b) - Number(a)))
    })

  const stored = { enabled: true, baseUrl: 'https://j.example', userEmail: 'a@b', apiToken: '****', projectKey: 'OPS' }

  it('never shows a secret, and keeps what is stored unless something is typed', () => {
    const form = openForm('jira', stored)
    expect(form.values['apiToken']).to.equal('')
    expect(form.kept).to.deep.equal(['apiToken'])
    expect(formProblems('jira', form)).to.deep.equal({})
    expect(isChanged('jira', form, stored)).to.equal(false)
    expect(formChange('jira', form, stored)).to.deep.equal(stored)
    const typed = setValue(form, 'apiToken', 'fresh')
    expect(formChange('jira', typed, stored)['apiToken']).to.equal('fresh')
    expect(isChanged('jira', typed, stored)).to.equal(true)
  })

  it('what is emptied is removed; a required secret that is to go is missing', () => {
    const form = forgetSecret(setValue(openForm('jira', stored), 'projectKey', ' '), 'apiToken')
    expect(formChange('jira', form, stored)).to.include({ projectKey: null, apiToken: null })
    expect(formProblems('jira', form)).to.deep.equal({ apiToken: 'API token is needed' })
  })

  it('problems name their field', () => {
    let form = openForm('email')
    for (const [name, value] of Object.entries({ host: 'h', port: '70000', from: 'nobody', to: 'a@b, c@d', user: 'u' }))
      form = setValue(form, name, value)
    expect(formProblems('email', form)).to.deep.equal({
      port: 'Expected a port number from 1 to 65535',
      from: 'Expected an e-mail address',
      password: 'Needed together with SMTP user',
    })
    expect(formChange('email', form)).to.deep.include({ to: ['a@b', 'c@d'], port: 70_000 })
  })

  it('what a form without problems sends is what the ticketing agent takes', () => {
    let form = openForm('email')
    const values = { host: 'h', port: '25', from: 'a@b', to: 'a@b', user: 'u', password: 'p', secure: 'true' }
    for (const [name, value] of Object.entries(values)) form = setValue(form, name, value)
    expect(formProblems('email', form)).to.deep.equal({})
    const first = changePlatforms({}, { email: formChange('email', form) }, { allowsPlainHttp: false }, () => 'sealed')
    if (!first.ok) throw new Error(first.problems.join())
    const target = first.platforms['email'] as StoredTarget
    expect(target).to.deep.equal({
      enabled: true,
      fields: { host: 'h', port: 25, from: 'a@b', to: 'a@b', user: 'u', secure: true },
      secrets: { password: 'sealed' },
    })
    // A target sent back as shown changes nothing.
    const shown = { enabled: true, ...target.fields, password: '****' }
    const again = changePlatforms(
      first.platforms,
      { email: formChange('email', openForm('email', shown), shown) },
      { allowsPlainHttp: false },
      () => 'other',
    )
    expect(again.ok && again.platforms['email']).to.deep.equal(target)
  })

  it('of a change only what was edited is sent', () => {
    const change = formChange('jira', setValue(openForm('jira', stored), 'projectKey', 'NIGHT'), stored)
    expect(editedFields('jira', change, stored)).to.deep.equal({ projectKey: 'NIGHT' })
    const key = formChange('jira', setValue(openForm('jira', stored), 'apiToken', 'new'), stored)
    expect(editedFields('jira', key, stored)).to.deep.equal({ apiToken: 'new' })
    expect(editedFields('jira', change, undefined)).to.deep.equal(change)
  })

  it('a second target of a platform needs a name of its own', () => {
    expect(nameProblem('slack', '', ['jira'])).to.equal(undefined)
    expect(nameProblem('slack', '', ['slack'])).to.equal('slack is there already')
    expect(nameProblem('slack', 'payments', ['slack'])).to.equal(undefined)
    expect(nameProblem('slack', 'Payments!', [])).to.match(/^1 to 40/)
    expect(['slack', 'slack:payments', 'pager'].map(titleOfTarget)).to.deep.equal(['Slack', 'Slack · payments', 'pager'])
  })
})
