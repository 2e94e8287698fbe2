import { expect } from 'chai'
import { describe, it } from 'mocha'
import { configuredSecrets } from './configured-secrets.ts'

describe('the secrets of a configuration', () => {
  it('are those of all targets, optional ones too, and the key of the model, each once', () => {
    const targets = new Map([
      ['jira', { platform: 'jira', fields: { baseUrl: 'https://jira.example', apiToken: 'jira-token', webhookSecret: 'hook-secret' } }],
      ['jira:b', { platform: 'jira', fields: { baseUrl: 'https://jira.example', apiToken: 'jira-token' } }],
      ['email', { platform: 'email', fields: { host: 'mail.example', port: 25, user: 'mailer', password: 'mail-password' } }],
    ] as const)
    const secrets = ['jira-token', 'hook-secret', 'mail-password', 'model-key']
    expect(configuredSecrets({ targets, llm: { apiKey: 'model-key' } })).to.deep.equal(secrets)
  })

  it('leave out those that stand in many texts by chance', () => {
    const targets = new Map([['email', { platform: 'email', fields: { password: 'mail' } }]] as const)
    expect(configuredSecrets({ targets, llm: {} })).to.deep.equal([])
  })
})
