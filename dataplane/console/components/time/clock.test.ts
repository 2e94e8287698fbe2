import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { absoluteRange, fromLocalInput, sayTimeRange, toLocalInput } from '../../url-state/time-range.ts'
import { formatMoment, formatTime } from '../format.ts'
import { momentOf, sayOffset, sayOffsetWhereItChanges, showUtc, subscribeClock } from './clock.ts'

const WINTER = Date.UTC(2026, 10, 22, 22, 30, 7, 123)
const SUMMER = Date.UTC(2026, 6, 1, 10)

describe('the clock of the console', () => {
  const zone = process.env['TZ']
  beforeEach(() => {
    process.env['TZ'] = 'Asia/Kolkata'
  })
  afterEach(() => {
    showUtc(false)
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })

  it('is that of the browser, until UTC is chosen', () => {
    const range = absoluteRange(WINTER, WINTER + 60_000)!
    const said = () => [formatTime(WINTER), formatMoment(WINTER, WINTER), sayTimeRange(range, WINTER), toLocalInput(WINTER)]
    expect(said()).to.deep.equal(['2026-11-23 04:00:07.123', '23 Nov 04:00:07', '23 Nov, 04:00:07 – 04:01:07', '2026-11-23T04:00:07'])
    showUtc(true)
    expect(said()).to.deep.equal(['2026-11-22 22:30:07.123', '22 Nov 22:30:07', '22 Nov, 22:30:07 – 22:31:07', '2026-11-22T22:30:07'])
  })

  it('is the one that a form is read by', () => {
    expect([momentOf('2026-07-01T15:30'), fromLocalInput('2026-07-01T15:30:00', 0)]).to.deep.equal([SUMMER, SUMMER])
    showUtc(true)
    expect([momentOf('2026-07-01T10:00'), fromLocalInput('2026-07-01T10:00:00', 0)]).to.deep.equal([SUMMER, SUMMER])
    expect(momentOf('soon')).to.be.NaN
  })

  it('says how far it is from UTC', () => {
    expect(sayOffset(WINTER)).to.equal('UTC+5:30')
    process.env['TZ'] = 'Europe/Berlin'
    expect([sayOffset(WINTER), sayOffset(SUMMER)]).to.deep.equal(['UTC+1', 'UTC+2'])
    process.env['TZ'] = 'America/St_Johns'
    expect(sayOffset(WINTER)).to.equal('UTC−3:30')
    showUtc(true)
    expect(sayOffset(WINTER)).to.equal('UTC')
  })

  it('says so for each hour of a time in which it is put back', () => {
    process.env['TZ'] = 'Europe/Berlin'
    const [before, first, second, after] = [22, 24, 25, 27].map(hour => Date.UTC(2026, 9, 24, hour, 30)) as [number, number, number, number]
    const said = [first, second].map(ms => `${formatTime(ms).slice(11, 16)} ${sayOffsetWhereItChanges(ms, before, after)}`)
    expect(said).to.deep.equal(['02:30 UTC+2', '02:30 UTC+1'])
    expect(sayOffsetWhereItChanges(first, before, first)).to.equal(undefined)
  })

  it('tells of a choice', () => {
    let choices = 0
    const stop = subscribeClock(() => choices++)
    showUtc(true)
    stop()
    showUtc(false)
    expect(choices).to.equal(1)
  })
})
