import { expect } from 'chai'
import { describe, it } from 'mocha'
import { PLATFORM_NAMES } from '../../contract/platforms.ts'
import { fieldNames, isTargetUrl, parseField, requiredFields, secretFields } from './platform-field.ts'

const RULES = { allowsPlainHttp: false }

describe('Fields of a platform', () => {
  it('are required as the specification says, and e-mail as decided', () => {
    expect(Object.fromEntries(PLATFORM_NAMES.map(name => [name, requiredFields(name)]))).to.deep.equal({
      pagerduty: ['routingKey'],
      jira: ['apiToken', 'baseUrl', 'userEmail'],
      servicenow: ['password', 'instanceUrl', 'username'],
      opsgenie: ['apiKey'],
      slack: ['webhookUrl'],
      email: ['host', 'port', 'from', 'to'],
    })
  })

  it('are each of one kind: a secret is no plain field as well', () => {
    for (const name of PLATFORM_NAMES) {
      expect(new Set(fieldNames(name)).size, name).to.equal(fieldNames(name).length)
      expect(fieldNames(name)).to.include.members(secretFields(name) as string[])
    }
  })

  const taken: readonly [field: string, value: unknown, kept: unknown][] = [
    ['port', 587, 587],
    ['port', '587', 587],
    ['secure', 'true', true],
    ['secure', false, false],
    ['to', 'ops@shop.example', 'ops@shop.example'],
    ['to', 'a@shop.example, Ops <b@shop.example>', 'a@shop.example, Ops <b@shop.example>'],
    ['to', ['a@shop.example', 'b@shop.example'], ['a@shop.example', 'b@shop.example']],
    ['responders', 'team:ops', 'team:ops'],
    ['baseUrl', 'https://shop.example/jira/', 'https://shop.example/jira/'],
    ['projectKey', 'OPS', 'OPS'],
    ['webhookUrl', 'https://hooks.example/x?a=b', 'https://hooks.example/x?a=b'],
    ['webhookUrl', 'https://hooks.example/x#payments', 'https://hooks.example/x'],
  ]
  for (const [field, value, kept] of taken)
    it(`takes ${JSON.stringify(value)} as ${field}`, () => expect(parseField(field, value, RULES)).to.deep.equal({ ok: true, value: kept }))

  const refused: readonly [field: string, value: unknown][] = [
    ['port', 0],
    ['port', 65_536],
    ['port', 1.5],
    ['port', '587x'],
    ['secure', 1],
    ['to', 'ops'],
    ['to', []],
    ['to', Array.from({ length: 51 }, () => 'a@shop.example')],
    ['to', ['a@shop.example', 5]],
    ['from', 'a@shop.example, b@shop.example\r\nBcc: c@shop.example'],
    ['baseUrl', 'http://shop.example'],
    ['baseUrl', 'https://user:pass@shop.example'],
    ['baseUrl', 'file:///etc/passwd'],
    ['baseUrl', 'https://shop.example/#a'],
    ['webhookUrl', 'https://user:pass@hooks.example/x#a'],
    ['webhookUrl', 'https://hooks.example/x#a\nb'],
    ['webhookUrl', 5],
    ['baseUrl', 'shop.example'],
    ['apiBaseUrl', 'https://api.opsgenie.com/v2'],
    ['apiBaseUrl', 'https://events.pagerduty.com/v2/enqueue'],
    ['projectKey', ''],
    ['projectKey', '  '],
    ['projectKey', 'OPS\nX'],
    ['projectKey', 'x'.repeat(2_049)],
    ['projectKey', 5],
    ['projectKey', { toString: 'OPS' }],
  ]
  for (const [field, value] of refused)
    it(`refuses ${JSON.stringify(value).slice(0, 60)} as ${field}`, () => expect(parseField(field, value, RULES).ok).to.equal(false))

  it('names the address of several that is none', () => {
    for (const value of [['a@shop.example', 'ops'], 'a@shop.example,ops'])
      expect(parseField('to', value, RULES)).to.deep.equal({
        ...{ ok: false, expected: 'an e-mail address, or a list of 1 to 50, and "ops" is none' },
      })
  })

  it('plain http is an address only where private targets are allowed', () => {
    expect([isTargetUrl('http://a.example', true), isTargetUrl('http://a.example', false)]).to.deep.equal([true, false])
    const refused = parseField('baseUrl', 'http://a.example', RULES)
    expect(refused.ok ? '' : refused.expected).to.match(
      /and fragment \(plain http needs ALLOW_PRIVATE_TARGETS=true \(in a LogPipeline: .*\)\)$/,
    )
    const noUrl = parseField('baseUrl', 'a.example', RULES)
    expect(noUrl.ok ? '' : noUrl.expected).to.match(/and fragment$/)
    const text = parseField('projectKey', 'a\nb', RULES)
    expect(text.ok ? '' : text.expected).to.match(/in one line$/)
  })
})
