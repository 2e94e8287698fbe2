import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { cursorAfter, formatCursor, INCIDENT_FILTERS, parseCursor } from './incident-list.ts'

describe('cursor of the incident list', () => {
  it('comes back as it was made', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string({ unit: 'binary' }), (createdAtMs, id) => {
        expect(parseCursor(formatCursor([createdAtMs, id]))).to.deep.equal([Object.is(createdAtMs, -0) ? 0 : createdAtMs, id])
      }),
      { seed: 1 },
    )
  })

  it('is none after incidents without a time, and goes on at an earlier time after one without an id', () => {
    expect(cursorAfter([1_000, 'i'])).to.deep.equal([1_000, 'i'])
    expect(cursorAfter([1_000, null])).to.deep.equal([999, '\uffff'])
    for (const sort of [[-(2 ** 63), 'i'], [null, 'i'], [], undefined]) expect(cursorAfter(sort)).to.equal(undefined)
  })

  it('anything else is none, and never an error', () => {
    for (const value of [{}, [1], [1, 2], ['1', 'a'], [1.5, 'a'], [1, 'a', 2], null, 'x'])
      expect(parseCursor(Buffer.from(JSON.stringify(value)).toString('base64url')), JSON.stringify(value)).to.equal(undefined)
    fc.assert(
      fc.property(fc.string(), text => {
        expect(parseCursor(text)).to.equal(undefined)
      }),
      { seed: 1 },
    )
  })

  it('is none once a character is changed, added or lost', () => {
    const cursor = formatCursor([1_795_974_120_522, '27d679c0-e034-40bc-82c4-2ad25d69fdbf'])
    for (const text of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, `!${cursor}`, cursor.slice(0, -1)])
      expect(parseCursor(text), text).to.equal(undefined)
  })
})

describe('limit of the incident list', () => {
  it('is 100 where none is asked for, and at most 1000', () => {
    const limitOf = (query: object) => INCIDENT_FILTERS.safeParse(query).data?.limit
    expect([limitOf({}), limitOf({ limit: '1' }), limitOf({ limit: '1000' })]).to.deep.equal([100, 1, 1000])
    expect(['0', '1001', '-1', '1.5', ''].map(limit => limitOf({ limit }))).to.deep.equal(new Array(5).fill(undefined))
  })
})

describe('times of the incident list', () => {
  const problems = (query: object) =>
    INCIDENT_FILTERS.safeParse(query).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)

  it('are refused the wrong way round, as those of the statistics are', () => {
    expect(problems({ from: '2026-01-02', to: '2026-01-01' })).to.deep.equal([
      'from: expected a time that is not after to (2026-01-01T00:00:00.000Z)',
    ])
  })

  it('are taken one alone, equal, and in order', () => {
    for (const query of [
      { from: '2026-01-02' },
      { to: '2026-01-01' },
      { from: '2026-01-01', to: '2026-01-01' },
      { from: '2026-01-01', to: '2026-01-02' },
    ])
      expect(problems(query), JSON.stringify(query)).to.equal(undefined)
  })

  it('have four digits of years in UTC, too: the store reads no others', () => {
    const EXPECTED = 'from: expected an ISO-8601 time such as 2026-01-31T12:00:00Z, from the years 0001 to 9999 in UTC'
    for (const from of ['9999-12-31T23:59:59-23:00', '0001-01-01T00:00:00+23:00', '0000-06-01'])
      expect(problems({ from }), from).to.deep.equal([EXPECTED])
    for (const from of ['9999-12-31T23:59:59Z', '0001-01-01']) expect(problems({ from }), from).to.equal(undefined)
  })

  it('may have the `+` of their zone as it is, which an address makes a space of', () => {
    const { from } = INCIDENT_FILTERS.parse(Object.fromEntries(new URLSearchParams('from=2026-01-31T12:00:00+01:00')))
    expect(from).to.equal('2026-01-31T11:00:00.000Z')
    for (const text of ['2026-01-31 12:00', '2026-01-31T12:00 01', ' 01:00']) expect(problems({ from: text }), text).to.have.length(1)
  })

  it('may leave out their seconds', () => {
    const fromOf = (from: string) => INCIDENT_FILTERS.safeParse({ from }).data?.from
    expect(fromOf('2026-01-31T12:00Z')).to.equal('2026-01-31T12:00:00.000Z')
    expect(fromOf('2026-01-31T12:00+01:00')).to.equal('2026-01-31T11:00:00.000Z')
  })

  it('are in UTC where they name no zone, wherever the agent runs', () => {
    const zone = process.env['TZ']
    process.env['TZ'] = 'America/New_York'
    try {
      expect(new Date('2026-01-31T12:00:00').toISOString()).to.equal('2026-01-31T17:00:00.000Z')
      for (const [text, time] of [
        ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000Z'],
        ['2026-01-31T12:00:00.125', '2026-01-31T12:00:00.125Z'],
        ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
        ['2026-01-31', '2026-01-31T00:00:00.000Z'],
        ['2026-01-31T12:00:00-05:00', '2026-01-31T17:00:00.000Z'],
      ])
        expect(INCIDENT_FILTERS.safeParse({ from: text }).data?.from, text).to.equal(time)
    } finally {
      if (zone === undefined) delete process.env['TZ']
      else process.env['TZ'] = zone
    }
    for (const from of ['2026-02-30T12:00:00', '2026-01-31T25:00', '2026-01-31 12:00:00', '12:00', '2026-01', '2026-01-31T12:00:00 02'])
      expect(problems({ from })?.[0], from).to.match(/^from: expected an ISO-8601 time such as 2026-01-31T12:00:00Z/)
  })
})
