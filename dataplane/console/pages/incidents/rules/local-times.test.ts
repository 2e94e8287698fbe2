import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { inBrowserClock } from './local-times.ts'

describe('times in the text of a cause', () => {
  const zone = process.env['TZ']
  before(() => {
    process.env['TZ'] = 'Asia/Kolkata'
  })
  after(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  it('are those of the browser, across midnight, and what is no time stays', () => {
    const near = Date.parse('2026-11-27T00:10:00Z')
    const say = (text: string) => inBrowserClock(text, near)
    expect([
      say('15 errors; first at 08:52:06 UTC'),
      say('first at 23:59:30 UTC, then at 00:01 UTC.'),
      say('since 2026-11-26T23:59:30.123Z'),
      say('HTTP 200 at 25:00:00 UTC, 10:00 CET'),
    ]).to.deep.equal([
      '15 errors; first at 14:22:06',
      'first at 05:29:30, then at 05:31.',
      'since 27 Nov 05:29:30',
      'HTTP 200 at 25:00:00 UTC, 10:00 CET',
    ])
  })
})
