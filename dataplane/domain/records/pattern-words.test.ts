import { expect } from 'chai'
import { describe, it } from 'mocha'
import { maskMessage } from './pattern.ts'
import { wordsOfPattern } from './pattern-words.ts'

const wordsOf = (record: object) => wordsOfPattern(maskMessage(JSON.stringify(record)))

describe('words of the pattern of a JSON object', () => {
  for (const [logger, record] of Object.entries({
    pino: {
      level: 50,
      time: 1_772_510_401_000,
      msg: 'order 17 failed',
      err: { type: 'Error', message: 'connect ECONNREFUSED 10.0.0.1:80' },
    },
    bunyan: {
      name: 'orders',
      level: 50,
      err: { message: 'connect ECONNREFUSED 10.0.0.1:80', stack: 'Error: x' },
      msg: 'order 17 failed',
      v: 0,
    },
    zap: { level: 'error', ts: 1.5, caller: 'a.go:17', msg: 'order 17 failed', error: 'connect ECONNREFUSED 10.0.0.1:80' },
    structlog: { event: 'order 17 failed', level: 'error', exception: 'connect ECONNREFUSED 10.0.0.1:80\n' },
    serilog: { '@t': '2026-03-03T04:00:00Z', '@mt': 'order 17 failed', '@x': 'connect ECONNREFUSED 10.0.0.1:80\n   at Shop' },
  }))
    it(`of ${logger}: the message, then its error`, () => {
      const words = wordsOf(record)
      expect(words).to.match(/^order <\*> failed: connect ECONNREFUSED <\*>/)
      expect(words).not.to.include('Shop')
    })

  it('an error that the message holds is told once, and so is a message that is there twice', () => {
    expect(wordsOf({ msg: 'failed: refused', error: 'refused', message: 'failed: refused' })).to.equal('failed: refused')
  })

  it('undefined where no field tells any, and for other texts', () => {
    expect(wordsOf({ status: 500, path: '/orders' })).to.equal(undefined)
    expect(wordsOf({ msg: '4711 17' })).to.equal(undefined)
    expect(wordsOfPattern('order <*> failed')).to.equal(undefined)
  })

  it('frames of Python tell nothing', () => {
    expect(wordsOf({ event: 'no quote', exception: 'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: 5' })).to.equal(
      'no quote',
    )
  })
})
