import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isoTime } from './iso-time.ts'

describe('ISO-8601 times', () => {
  it('are in UTC, with milliseconds', () => expect(isoTime(Date.UTC(2026, 0, 2, 3))).to.equal('2026-01-02T03:00:00.000Z'))
})
