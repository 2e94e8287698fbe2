import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { parseDuration, sayDuration } from './duration.ts'
import {
  absoluteRange,
  bucketMsFor,
  DEFAULT_RANGE,
  fromLocalInput,
  parseTimeRange,
  sayTimeRange,
  sayWithin,
  toLocalInput,
  windowBefore,
  windowOf,
  writeTimeRange,
} from './time-range.ts'

const ABSOLUTE = { kind: 'absolute', fromMs: Date.UTC(2026, 10, 22, 10), toMs: Date.UTC(2026, 10, 22, 11) } as const

describe('the time range of the pages', () => {
  it('is relative, absolute, or an hour', () => {
    expect(parseTimeRange('?range=15m')).to.deep.equal({ kind: 'relative', text: '15m', ms: 900_000 })
    expect(parseTimeRange('?from=2026-11-22T10:00:00.000Z&to=2026-11-22T11:00:00.000Z')).to.deep.equal(ABSOLUTE)
    for (const search of [
      '',
      '?range=soon',
      '?range=0m',
      '?from=2026-11-22T10:00:00Z',
      '?from=2026-11-22T11:00:00Z&to=2026-11-22T10:00:00Z',
    ])
      expect(parseTimeRange(search), search).to.deep.equal(DEFAULT_RANGE)
  })

  it('comes back as it was written, beside other parameters', () => {
    expect(parseTimeRange(writeTimeRange('?q=a', ABSOLUTE))).to.deep.equal(ABSOLUTE)
    expect(writeTimeRange('?q=a&from=x&to=y', { kind: 'relative', text: '7d', ms: 1 })).to.equal('?q=a&range=7d')
    expect(writeTimeRange('?range=7d', DEFAULT_RANGE)).to.equal('')
  })

  it('has a window, and one before', () => {
    const window = windowOf({ kind: 'relative', text: '15m', ms: 900_000 }, 10_000_000)
    expect(window).to.deep.equal({ fromMs: 9_100_000, toMs: 10_000_000 })
    expect(windowBefore(window)).to.deep.equal({ fromMs: 8_200_000, toMs: 9_100_000 })
  })

  it('is none that the store cannot be asked for', () => {
    for (const search of [
      '?from=-271821-04-20T00:00:00.000Z&to=2026-01-01T00:00:00.000Z',
      '?from=2026-01-01T00:00:00.000Z&to=%2B275760-09-13T00:00:00.000Z',
      '?from=1899-12-31T23:59:59.999Z&to=2026-01-01T00:00:00.000Z',
    ])
      expect(parseTimeRange(search), search).to.deep.equal(DEFAULT_RANGE)
    const longest = parseTimeRange('?from=1900-01-01T00:00:00.000Z&to=2600-01-01T00:00:00.000Z')
    expect(longest.kind).to.equal('absolute')
    const before = windowBefore(windowOf(longest, 0))
    expect(new Date(before.fromMs).toISOString()).to.match(/^\d{4}-/)
    const barMs = bucketMsFor(windowOf(longest, 0))
    expect((before.toMs - before.fromMs) / barMs).to.be.below(1_000)
  })

  it('is divided into bars of a round width', () => {
    for (const [
      ms,
      bucketMs,
    ] of [[60_000, 1_000], [900_000, 15_000], [3_600_000, 60_000], [86_400_000, 1_800_000], [2_592_000_000, 43_200_000]] as const) // biome-ignore format: one line
      expect(bucketMsFor({ fromMs: 0, toMs: ms }), String(ms)).to.equal(bucketMs)
  })
})

describe('a time range in words', () => {
  const zone = process.env['TZ']
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  const NOW = Date.UTC(2026, 10, 27)
  const say = (timeZone: string, from: string, to: string) => {
    process.env['TZ'] = timeZone
    return sayTimeRange(absoluteRange(Date.parse(from), Date.parse(to))!, NOW)
  }

  it('is by the clock of the browser, of 24 hours in every language', () => {
    expect(say('Europe/Berlin', '2026-11-22T23:00:00Z', '2026-11-23T00:30:05Z')).to.equal('23 Nov, 00:00:00 – 01:30:05')
    expect(say('America/New_York', '2026-11-22T23:00:00Z', '2026-11-23T05:30:05Z')).to.equal('22 Nov, 18:00:00 – 23 Nov, 00:30:05')
  })

  it('says how far clocks are from UTC where they change in between', () => {
    expect(say('Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z')).to.equal('25 Oct, 02:30:00 (UTC+2) – 02:30:00 (UTC+1)')
    expect(say('America/St_Johns', '2026-11-01T04:00:00Z', '2026-11-01T05:00:00Z')).to.equal(
      '1 Nov, 01:30:00 (UTC−2:30) – 01:30:00 (UTC−3:30)',
    )
  })

  it('stands within a sentence', () => {
    expect(sayWithin({ kind: 'relative', text: '7d', ms: 604_800_000 })).to.equal('in the last 7 days')
    expect(sayWithin({ kind: 'relative', text: '1h', ms: 3_600_000 })).to.equal('in the last hour')
    process.env['TZ'] = 'UTC'
    const range = absoluteRange(Date.parse('2026-11-22T10:00:00Z'), Date.parse('2026-11-22T11:00:00Z'))!
    expect(sayWithin(range, NOW)).to.equal('within 22 Nov, 10:00:00 – 11:00:00')
  })

  it('says a year that is not this one', () => {
    expect(say('UTC', '2025-11-22T10:00:00Z', '2025-11-22T11:00:00Z')).to.equal('22 Nov 2025, 10:00:00 – 11:00:00')
    expect(say('UTC', '2025-12-31T23:00:00Z', '2026-01-01T01:00:00Z')).to.equal('31 Dec 2025, 23:00:00 – 1 Jan 2026, 01:00:00')
  })

  it('comes back from the fields of a form as it was, also from the second of two equal hours', () => {
    process.env['TZ'] = 'Europe/Berlin'
    for (const ms of [Date.UTC(2026, 9, 25, 0, 30, 7, 123), Date.UTC(2026, 9, 25, 1, 30, 7, 123)]) {
      expect(toLocalInput(ms)).to.equal('2026-10-25T02:30:07')
      expect(fromLocalInput(toLocalInput(ms), ms)).to.equal(ms)
    }
    expect(fromLocalInput('2026-07-01T12:00:00', 0)).to.equal(Date.UTC(2026, 6, 1, 10))
  })
})

describe('durations', () => {
  it('are read as people write them', () => {
    expect(['90s', '15 m', '1H', '7d', '2w', '', '5', 'm', '-1m', '0s', '999999w'].map(parseDuration)).to.deep.equal([
      90_000,
      900_000,
      3_600_000,
      604_800_000,
      1_209_600_000,
      ...[undefined, undefined, undefined, undefined, undefined, undefined],
    ])
  })

  it('are said in words', () => {
    expect(['15m', '1h', '7d'].map(sayDuration)).to.deep.equal(['15 minutes', 'hour', '7 days'])
  })
})
