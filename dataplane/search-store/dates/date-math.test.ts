import { expect } from 'chai'
import { describe, it } from 'mocha'
import { addUnits, floorToUnit } from './calendar.ts'
import { parseDateFormat } from './date-format.ts'
import { parseDateMath } from './date-math.ts'
import { parseTimeZone, UTC } from './time-zone.ts'

/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 12, 34, 56, 789)

const CASES: readonly { text: string; down: string; up?: string; zone?: string; format?: string }[] = [
  { text: 'now', down: '2026-11-21T12:34:56.789Z' },
  { text: 'now-1h', down: '2026-11-21T11:34:56.789Z' },
  { text: 'now-h', down: '2026-11-21T11:34:56.789Z' },
  { text: 'now+1M-1d', down: '2026-12-20T12:34:56.789Z' },
  { text: 'now/d', down: '2026-11-21T00:00:00.000Z', up: '2026-11-21T23:59:59.999Z' },
  { text: 'now/w', down: '2026-11-16T00:00:00.000Z', up: '2026-11-22T23:59:59.999Z' },
  { text: 'now/M', down: '2026-11-01T00:00:00.000Z', up: '2026-11-30T23:59:59.999Z' },
  { text: 'now-1d/d', down: '2026-11-20T00:00:00.000Z', up: '2026-11-20T23:59:59.999Z' },
  { text: 'now/d', zone: '+02:00', down: '2026-11-20T22:00:00.000Z', up: '2026-11-21T21:59:59.999Z' },
  { text: '2026', down: '2026-01-01T00:00:00.000Z', up: '2026-01-01T23:59:59.999Z' },
  { text: '2024-02', down: '2024-02-01T00:00:00.000Z', up: '2024-02-01T23:59:59.999Z' },
  { text: '2026-11-21T10', down: '2026-11-21T10:00:00.000Z', up: '2026-11-21T10:59:59.999Z' },
  { text: '2026-11-21T10:00:00.123456789Z', down: '2026-11-21T10:00:00.123Z' },
  { text: '2026-11-21T10:00:00+05:30', down: '2026-11-21T04:30:00.000Z', up: '2026-11-21T04:30:00.999Z' },
  { text: '2026-01-31||+1M', down: '2026-02-28T00:00:00.000Z' },
  { text: '2026-11-21||/M', down: '2026-11-01T00:00:00.000Z', up: '2026-11-30T23:59:59.999Z' },
  { text: '1795262400000', down: '2026-11-21T12:00:00.000Z' },
  { text: '1795262400', format: 'epoch_second', down: '2026-11-21T12:00:00.000Z' },
  { text: '20261121', format: 'basic_date', down: '2026-11-21T00:00:00.000Z', up: '2026-11-21T23:59:59.999Z' },
  { text: '21/11/2026 10:20', format: 'dd/MM/yyyy HH:mm', down: '2026-11-21T10:20:00.000Z', up: '2026-11-21T10:20:59.999Z' },
]

const iso = (utcMs: number): string => new Date(utcMs).toISOString()

describe('date math', () => {
  for (const { text, down, up, zone, format } of CASES)
    it(`${text}${zone === undefined ? '' : ` in ${zone}`}${format === undefined ? '' : ` as ${format}`}`, () => {
      const context = {
        nowMs: NOW,
        ...(zone !== undefined && { zone: parseTimeZone(zone) }),
        ...(format !== undefined && { format: parseDateFormat(format) }),
      }
      expect(iso(parseDateMath(text, context))).to.equal(down)
      expect(iso(parseDateMath(text, { ...context, roundUp: true }))).to.equal(up ?? down)
    })

  for (const text of [
    '',
    'then',
    'now-',
    'now-1',
    'now-1x',
    'now/2d',
    'now d',
    '2026-13-01',
    '2026-02-30',
    '2026-11-21T25',
    '12-2026',
    'now+999999999y',
  ])
    it(`refuses [${text}]`, () => {
      expect(() => parseDateMath(text, { nowMs: NOW })).to.throw(/failed to parse date field/)
    })
})

describe('calendar', () => {
  const berlin = parseTimeZone('Europe/Berlin')

  it('days of a zone are 23 and 25 hours long when clocks change', () => {
    const spring = floorToUnit(Date.UTC(2026, 2, 29, 12), 'day', berlin)
    expect(iso(spring)).to.equal('2026-03-28T23:00:00.000Z')
    expect((addUnits(spring, 1, 'day', berlin) - spring) / 3_600_000).to.equal(23)
    const autumn = floorToUnit(Date.UTC(2026, 9, 25, 12), 'day', berlin)
    expect((addUnits(autumn, 1, 'day', berlin) - autumn) / 3_600_000).to.equal(25)
  })

  it('an hour that clocks repeat stays two hours', () => {
    expect(iso(floorToUnit(Date.UTC(2026, 9, 25, 0, 30), 'hour', berlin))).to.equal('2026-10-25T00:00:00.000Z')
    expect(iso(floorToUnit(Date.UTC(2026, 9, 25, 1, 30), 'hour', berlin))).to.equal('2026-10-25T01:00:00.000Z')
  })

  it('prints offsets of zones', () => {
    expect(parseDateFormat('strict_date_optional_time').print(NOW, berlin)).to.equal('2026-11-21T13:34:56.789+01:00')
    expect(parseDateFormat("yyyy.MM.dd 'at' HH").print(NOW, UTC)).to.equal('2026.11.21 at 12')
  })

  it('years below 100 and before 1970', () => {
    expect(iso(parseDateMath('0050-01-01', { nowMs: 0 }))).to.equal('0050-01-01T00:00:00.000Z')
    expect(iso(floorToUnit(Date.UTC(1969, 11, 31, 23), 'week', UTC))).to.equal('1969-12-29T00:00:00.000Z')
  })

  it('refuses zones that do not exist', () => {
    expect(() => parseTimeZone('Mars/Base')).to.throw('Unknown time-zone ID: Mars/Base')
    expect(() => parseTimeZone('+19:00')).to.throw('outside -18:00 to +18:00')
  })
})
