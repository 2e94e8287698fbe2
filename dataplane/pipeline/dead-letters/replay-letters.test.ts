import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import type { Letter } from './letter.ts'
import { MAX_REMEMBERED, replayLetters } from './replay-letters.ts'

const letter = (value: string): Letter => ({
  ...{ id: '0/0', time: '2026-11-21T00:00:00.000Z', stage: 'etl', reason: 'message: not JSON', topic: 'raw-logs', origin: '0/0' },
  ...{ tenant: 'shop', key: 'shop/cart', receivedMs: '0', replayed: undefined, wholeBytes: undefined },
  value: Buffer.from(value),
})

async function* letters(values: Iterable<string | number>): AsyncGenerator<Letter> {
  for (const value of values) yield letter(String(value))
}

const replay = (values: Iterable<string | number>) =>
  replayLetters(letters(values), { bus: undefined, topics: new Set(['raw-logs']), clock: createFakeClock(0) })

describe('a replay of dead letters', () => {
  it('sends the same bytes once, as long as it remembers them', async () => {
    const { sent, repeated } = await replay(['a', 'b', 'a', 'a'])
    expect([sent.get('raw-logs'), repeated]).to.deep.equal([2, 2])
  })

  it('remembers so many letters at most, however many lie in the queue: those further back are sent again', async function () {
    this.timeout(30_000)
    const others = Array.from({ length: MAX_REMEMBERED }, (_, n) => n)
    const { sent, repeated } = await replay(['first', ...others, others.at(-1)!, others.at(-MAX_REMEMBERED / 2)!, 'first'])
    expect([sent.get('raw-logs'), repeated]).to.deep.equal([MAX_REMEMBERED + 2, 2])
  })
})
