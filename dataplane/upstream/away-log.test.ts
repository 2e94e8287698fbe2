import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createAwayLog } from './away-log.ts'

describe('the log of a back end that gives no answer', () => {
  it('has one line in ten seconds, with how many requests failed since the last one', () => {
    const lines: (readonly [unknown, string])[] = []
    let nowMs = 0
    const log = { warn: (fields: object, message: string) => void lines.push([(fields as { requests: number }).requests, message]) }
    const away = createAwayLog(log, { name: 'the shop', endpoint: 'http://shop' }, () => nowMs)
    for (nowMs = 0; nowMs < 25_000; nowMs += 100) away(new Error('connect ECONNREFUSED'))
    expect(lines).to.deep.equal([1, 100, 100].map(requests => [requests, 'the shop gave no answer']))
  })
})
