import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskPrivate } from './mask-private.ts'

describe('secrets and personal data are masked', () => {
  const cases: readonly { name: string; text: string; gone: string; stays?: string }[] = [
    { name: 'key of OpenAI', text: 'using sk-proj-abcDEF0123456789abcd now', gone: 'sk-proj', stays: 'using' },
    { name: 'key of Anthropic', text: 'key sk-ant-api03-abcdefghijkl0123', gone: 'sk-ant' },
    { name: 'token of GitHub', text: 'clone with ghp_abcdefghijklmnopqrst0123456789abcdef', gone: 'ghp_' },
    { name: 'token of GitLab', text: 'glpat-abcdefghij0123456789', gone: 'glpat' },
    { name: 'token of Slack', text: 'xoxb-123456789012-abcdefghij', gone: 'xoxb' },
    { name: 'key of Google', text: 'AIzaSyA-abcdefghijklmnopqrstuvwxyz0123456', gone: 'AIza' },
    { name: 'key of AWS', text: 'credentials AKIAIOSFODNN7EXAMPLE denied', gone: 'AKIA', stays: 'denied' },
    {
      name: 'secret key of AWS',
      text: 'aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      gone: 'wJalr',
      stays: 'aws_secret_access_key=',
    },
    { name: 'bearer token', text: 'Authorization: Bearer abc123.def456', gone: 'abc123' },
    { name: 'basic credentials', text: 'header basic dXNlcjpwYXNzd29yZA==', gone: 'dXNlc' },
    { name: 'JWT', text: 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi failed', gone: 'eyJ', stays: 'failed' },
    {
      name: 'private key',
      text: 'a -----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY----- b',
      gone: 'MIIE',
      stays: 'b',
    },
    { name: 'private key that is cut', text: 'x -----BEGIN PRIVATE KEY-----\nMIIEvQ', gone: 'MIIE', stays: 'x' },
    { name: 'password in a URL', text: 'postgres://admin:hunter2@db:5432/shop', gone: 'hunter2', stays: '@db:5432/shop' },
    { name: 'password as key and value', text: 'login user=bob password=hunter2 failed', gone: 'hunter2', stays: 'failed' },
    { name: 'password in JSON', text: '{"db_password": "hun ter2", "host": "a"}', gone: 'hun ter2', stays: '"host"' },
    { name: 'API key in a query', text: 'GET /v1?api_key=abcdef&page=2', gone: 'abcdef', stays: '&page=2' },
    { name: 'key in a query', text: 'GET /v1/models?key=abcdef&page=2', gone: 'abcdef', stays: '&page=2' },
    { name: 'cookie', text: 'Cookie: session=abcdef', gone: 'session=abcdef' },
    { name: 'passphrase in words', text: 'the passphrase is swordfish', gone: 'swordfish' },
    { name: 'e-mail address', text: 'user jane.doe+x@mail.example.co.uk unknown', gone: 'jane', stays: 'unknown' },
    { name: 'international phone number', text: 'sms to +49 170 1234567 failed', gone: '1234567', stays: 'failed' },
    { name: 'phone number', text: 'call (555) 123-4567', gone: '4567' },
    { name: 'card number', text: 'charge 4111 1111 1111 1111 declined', gone: '1111', stays: 'declined' },
    { name: 'card number without spaces', text: 'pan=5500005555555559', gone: '5500005555555559' },
    { name: 'IBAN', text: 'to DE89 3704 0044 0532 0130 00', gone: '3704' },
    { name: 'social security number', text: 'ssn 078-05-1120', gone: '078-05' },
    { name: 'IPv4', text: 'refused by 10.2.3.4:5432', gone: '10.2.3.4', stays: 'refused by' },
    { name: 'IPv6', text: 'from 2001:db8::8a2e:370:7334 port 1', gone: '2001', stays: 'port 1' },
    { name: 'short IPv6', text: 'from fe80::1 port 1', gone: 'fe80' },
    { name: 'MAC', text: 'dev 00:1B:44:11:3A:B7', gone: '1B:44' },
    { name: 'long token without a name', text: 'got 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', gone: '9f86d0' },
  ]
  for (const { name, text, gone, stays = '' } of cases)
    it(name, () => {
      const masked = maskPrivate(text)
      expect(masked).to.not.include(gone)
      expect(masked).to.include(stays)
      expect(masked).to.match(/\[(?:secret|token|private key|email|phone|card|ip|mac|number|account)\]/)
    })

  const plain = [
    'Connection refused to * after 3000 ms',
    'order 1234567 stored at 2026-11-22T08:52:06.123Z',
    '12 of 40 requests lack it; first at 08:52:06 UTC',
    'java.util.concurrent.TimeoutException at com.shop.OrderService$Inner.run(OrderService.java:125)',
    'version 1.24.3 of checkout-service',
    'GET /api/orders/42 200 15ms',
    'basic authentication is off',
    'took 1763801526123 ns',
  ]
  for (const text of plain) it(`leaves alone: ${text}`, () => expect(maskPrivate(text)).to.equal(text))

  it('takes no longer on texts made to be slow', () => {
    const parts = [
      'a@',
      '1.1.1.',
      '::',
      'password=',
      '-----BEGIN PRIVATE KEY-----',
      'eyJaaaa.',
      '-eyJaaaa',
      '1.',
      '+1 ',
      'a'.repeat(50),
      '://a:',
      '4111 ',
      '"',
      'a_token.',
    ]
    for (const part of parts) {
      const text = part.repeat(Math.ceil(50_000 / part.length))
      const start = performance.now()
      maskPrivate(text)
      expect(performance.now() - start, part).to.be.below(1_000)
    }
  })
})
