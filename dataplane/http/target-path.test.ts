import { expect } from 'chai'
import { describe, it } from 'mocha'
import { pathOfTarget } from './target-path.ts'

describe('the path of a target', () => {
  for (const [target, path] of [
    ['/v1/logs', '/v1/logs'],
    ['/v1/logs?a=http://b/c', '/v1/logs'],
    ['http://logs.example.com/v1/logs', '/v1/logs'],
    ['HTTPS://[::1]:4318/v1/logs?a=b', '/v1/logs'],
    ['http://logs.example.com', '/'],
    ['http://logs.example.com?a=b', '/'],
    ['/http://a/v1/logs', '/http://a/v1/logs'],
    ['http:///v1/logs', 'http:///v1/logs'],
    ['ftp://a/v1/logs', 'ftp://a/v1/logs'],
    ['*', '*'],
    ['', ''],
  ] as const)
    it(`of "${target}" is "${path}"`, () => {
      expect(pathOfTarget(target)).to.equal(path)
    })
})
