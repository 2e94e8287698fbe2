import { expect } from 'chai'
import { describe, it } from 'mocha'
import { basicAuthorization, basicCredentials } from './basic-authorization.ts'

describe('Basic authentication', () => {
  const cases = [
    // The example of RFC 7617, section 2.
    { title: 'a user and a password', username: 'Aladdin', password: 'open sesame', expected: 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
    // The example of RFC 7617, section 2.1.
    { title: 'characters beyond ASCII, as UTF-8', username: 'test', password: '123£', expected: 'dGVzdDoxMjPCow==' },
    { title: 'a password with colons', username: 'ada', password: 'a:b', expected: 'YWRhOmE6Yg==' },
    { title: 'no password', username: 'ada', password: '', expected: 'YWRhOg==' },
  ]
  for (const { title, username, password, expected } of cases)
    it(`holds ${title}`, () => {
      expect(basicCredentials(username, password)).to.equal(expected)
      expect(basicAuthorization(username, password)).to.equal(`Basic ${expected}`)
    })
})
