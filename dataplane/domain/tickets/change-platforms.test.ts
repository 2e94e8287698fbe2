import { expect } from 'chai'
import { describe, it } from 'mocha'
import { changePlatforms, type StoredPlatforms } from './change-platforms.ts'

const RULES = { allowsPlainHttp: false }
const STORED: StoredPlatforms = {
  jira: { enabled: true, fields: { baseUrl: 'https://shop.example', userEmail: 'bot@shop.example' }, secrets: { apiToken: 'sealed' } },
}
const change = (wanted: Readonly<Record<string, unknown>>, stored = STORED) =>
  changePlatforms(stored, wanted, RULES, (target, field, secret) => `${target}/${field}/${secret}`)

describe('PATCH /api/v1/config/platforms', () => {
  it('seals what is new and keeps what is stored', () => {
    expect(change({ jira: { apiToken: '****' }, 'slack:a': { webhookUrl: 'https://hooks.example' } })).to.deep.equal({
      ok: true,
      platforms: {
        ...STORED,
        'slack:a': { enabled: true, fields: {}, secrets: { webhookUrl: 'slack:a/webhookUrl/https://hooks.example' } },
      },
      updated: ['jira', 'slack:a'],
    })
  })

  it('changes a part and leaves the rest', () => {
    const changed = change({ jira: { enabled: false, apiToken: 'new', projectKey: 'OPS' } })
    expect(changed.ok && changed.platforms['jira']).to.deep.equal({
      enabled: false,
      fields: { ...STORED['jira']!.fields, projectKey: 'OPS' },
      secrets: { apiToken: 'jira/apiToken/new' },
    })
  })

  it('null removes a target, one that is not there, too, and a field that is not required', () => {
    expect(change({ jira: null, slack: null })).to.deep.equal({ ok: true, platforms: {}, updated: ['jira', 'slack'] })
    expect(change({ jira: { apiToken: null, userEmail: null } })).to.deep.equal({
      ok: false,
      problems: ['jira.apiToken: expected a value, seen none', 'jira.userEmail: expected a value, seen none'],
    })
  })

  it('seals nothing where there is a problem', () => {
    const changed = changePlatforms({}, { slack: { webhookUrl: 'https://a.example' }, fax: {} }, RULES, () => expect.fail('sealed'))
    expect(changed.ok).to.equal(false)
  })

  it('user and password of e-mail come together', () => {
    const mail = { host: 'mail', port: 25, from: 'a@b', to: 'c@d' }
    expect(change({ email: mail }).ok).to.equal(true)
    expect(change({ email: { ...mail, user: 'bot' } })).to.deep.equal({
      ok: false,
      problems: ['email.password: expected together with user, seen none'],
    })
    expect(change({ email: { ...mail, password: 'p' } })).to.deep.equal({
      ok: false,
      problems: ['email.user: expected together with password, seen none'],
    })
  })
})
