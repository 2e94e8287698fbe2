import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseRequestPath } from './request-path.ts'

describe('the path of a request', () => {
  for (const target of [
    '/v1/logs?a=1',
    'http://gateway:8443/v1/logs?a=1',
    'HTTPS://[::1]/v1/logs?a=1',
    'https://user@other.example/v1/logs?a=1',
  ])
    it(`is the same in every form of the target: ${target}`, () => {
      expect(parseRequestPath(target)).to.deep.equal({ segments: ['v1', 'logs'], search: '?a=1' })
    })

  for (const target of [
    '',
    '*',
    'v1/logs',
    'ftp://gateway/v1/logs',
    'http:///v1/logs',
    'http://gateway',
    'http://gateway//v1',
    'gateway:8443',
    '/http://a/../v1',
  ])
    it(`is refused: ${JSON.stringify(target)}`, () => {
      expect(() => parseRequestPath(target)).to.throw('path: expected')
    })
})
