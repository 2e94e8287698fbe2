import { expect } from 'chai'
import { describe, it } from 'mocha'
import { HOUR_MS, hoursToCompute, isTooFarAhead, lastFullHour } from './feature-hour.ts'

const at = (time: string) => Date.parse(`2026-11-21T${time}Z`)
const shown = (hours: readonly number[]) => hours.map(ms => new Date(ms).toISOString().slice(11, 16))

describe('the last full hour', () => {
  for (const { now, hour } of [
    { now: '16:00:00', hour: '15:00' },
    { now: '16:59:59.999', hour: '15:00' },
    { now: '17:00:00', hour: '16:00' },
  ])
    it(`at ${now} is that from ${hour}`, () => expect(shown([lastFullHour(at(now))])).to.deep.equal([hour]))
})

describe('the time that features speak of', () => {
  it('is too far ahead from more than a day on', () => {
    const now = at('10:00:00')
    expect([now - 1, now + 24 * HOUR_MS, now + 24 * HOUR_MS + 1].map(ms => isTooFarAhead(ms, now))).to.deep.equal([false, false, true])
  })
})

describe('hours to compute', () => {
  const cases: readonly { name: string; last?: string; now: string; expected: readonly string[] }[] = [
    { name: 'at first the last full hour alone', now: '16:10:00', expected: ['15:00'] },
    { name: 'none while the hour is under way', last: '15:00:00', now: '16:59:00', expected: [] },
    { name: 'the next one once it is over', last: '15:00:00', now: '17:00:00', expected: ['16:00'] },
    {
      name: 'after a pause those that were left out, oldest first',
      last: '12:00:00',
      now: '16:10:00',
      expected: ['13:00', '14:00', '15:00'],
    },
    {
      name: 'after a long pause no more than the bound',
      last: '01:00:00',
      now: '16:10:00',
      expected: ['12:00', '13:00', '14:00', '15:00'],
    },
    { name: 'none when the clock was set back', last: '15:00:00', now: '15:10:00', expected: [] },
  ]
  for (const { name, last, now, expected } of cases)
    it(name, () => {
      const lastHourMs = last === undefined ? undefined : at(last)
      expect(shown(hoursToCompute({ lastHourMs, nowMs: at(now), maxHours: 4 }))).to.deep.equal(expected)
    })

  it('every hour is computed once, however the looks at the clock fall', () => {
    let last: number | undefined
    const done: number[] = []
    for (let nowMs = at('10:30:00'); nowMs < at('16:30:00'); nowMs += 17 * 60_000)
      for (const hour of hoursToCompute({ lastHourMs: last, nowMs, maxHours: 24 })) {
        done.push(hour)
        last = hour
      }
    expect(done).to.deep.equal(Array.from({ length: 7 }, (_, i) => at('09:00:00') + i * HOUR_MS))
  })
})
