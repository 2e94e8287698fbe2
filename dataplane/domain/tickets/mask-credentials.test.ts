import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskCredentials } from './mask-credentials.ts'

describe('credentials in log text', () => {
  const cases: readonly (readonly [text: string, masked: string])[] = [
    ['Authorization: Bearer abc123.def456 refused', 'Authorization: Bearer [secret] refused'],
    ['header basic dXNlcjpwYXNzd29yZDE== sent', 'header basic [secret] sent'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def failed', 'token [token] failed'],
    ['credentials AKIAIOSFODNN7EXAMPLE denied', 'credentials [secret] denied'],
    ['aws_secret_access_key=wJalrXUtnFEMI/K7MDENG+bPx denied', 'aws_secret_access_key=[secret] denied'],
    ['clone with ghp_abcdefghijklmnopqrst0123456789abcdef', 'clone with [secret]'],
    ['using sk-proj-abcDEF0123456789abcd now', 'using [secret] now'],
    ['cannot reach postgres://admin:hunter2@db:5432/shop', 'cannot reach postgres://admin:[secret]@db:5432/shop'],
    ['login user=bob password=hunter2 failed', 'login user=bob password=[secret] failed'],
    ['login password="hun ter2", user=bob', 'login password=[secret], user=bob'],
    ['{"user":"bob","db_password": "hun ter2"}', '{"user":"bob","db_password": "[secret]"}'],
    ['GET /v1?api_key=abcdef&page=2', 'GET /v1?api_key=[secret]&page=2'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- b', 'a [private key] b'],
    [`key svc_proj_${'0'.repeat(64)} is revoked`, 'key [secret] is revoked'],
  ]
  for (const [text, masked] of cases) it(`${text.split('\n')[0]}`, () => expect(maskCredentials(text)).to.equal(masked))

  const causes = [
    'access token: expired',
    'the password is incorrect',
    'Unexpected token < in JSON at position 0',
    'password=null for user 7',
    'api_key=<*> refused',
    'basic authentication is off',
    'trace 9f86d081884c7d659a2feaa0c55ad015 of order A-20931 from 10.2.3.4:5432 for ada@example.com',
    'https://shop.example.com:8443/a@b',
  ]
  for (const text of causes) it(`leaves alone: ${text}`, () => expect(maskCredentials(text)).to.equal(text))

  it('takes no longer on texts made to be slow', () => {
    for (const part of [
      'password',
      'password=',
      '"password":',
      '://a:',
      '://',
      'eyJaaaa.',
      '-eyJaaaa',
      'basic ',
      'a.',
      '-----BEGIN PRIVATE KEY-----',
    ]) {
      const startMs = performance.now()
      maskCredentials(part.repeat(Math.ceil(50_000 / part.length)))
      expect(performance.now() - startMs, part).to.be.below(500)
    }
  })
})
