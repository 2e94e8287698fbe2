import { expect } from 'chai'
import { describe, it } from 'mocha'
import { clockOffset, noteServerTime, offsetBy, onClockChange, serverNow } from './server-clock.ts'

const NOW = Date.UTC(2026, 10, 28, 3)
const MINUTE_MS = 60_000

describe('the time of the server', () => {
  it('is that of this computer while the two may be the same, however slow the answer', () => {
    for (const tookMs of [5, 900, 30_000])
      for (const withinMs of [0, tookMs / 2, tookMs]) {
        const dateMs = Math.floor((NOW + withinMs) / 1_000) * 1_000
        expect(offsetBy({ dateMs, sentMs: NOW, receivedMs: NOW + tookMs }, 0), `${tookMs} ${withinMs}`).to.equal(0)
      }
  })

  it('is found where this computer is a quarter of an hour off, within the second that the header leaves open', () => {
    for (const off of [-15 * MINUTE_MS, 15 * MINUTE_MS]) {
      const answer = { dateMs: NOW + off, sentMs: NOW, receivedMs: NOW + 100 }
      const found = offsetBy(answer, 0)
      expect(found).to.be.closeTo(off, 1_000)
      // Later answers do not make it jump.
      expect(offsetBy({ dateMs: NOW + 60_000 + off, sentMs: NOW + 60_000, receivedMs: NOW + 63_000 }, found)).to.equal(found)
      // The computer was set right.
      expect(offsetBy({ dateMs: NOW + 70_000, sentMs: NOW + 70_100, receivedMs: NOW + 70_200 }, found)).to.be.closeTo(0, 1_000)
    }
  })

  it('stays as it was where an answer names no time', () => {
    expect(offsetBy({ dateMs: Number.NaN, sentMs: NOW, receivedMs: NOW }, 7)).to.equal(7)
  })

  it('is told to all who listen, once for each change', () => {
    let calls = 0
    const stop = onClockChange(() => calls++)
    const sentMs = Date.now()
    for (let i = 0; i < 2; i++) noteServerTime({ dateMs: sentMs + 15 * MINUTE_MS, sentMs, receivedMs: sentMs })
    expect([calls, Math.round((serverNow() - Date.now()) / MINUTE_MS)]).to.deep.equal([1, 15])
    noteServerTime({ dateMs: sentMs, sentMs, receivedMs: sentMs })
    stop()
    noteServerTime({ dateMs: sentMs + MINUTE_MS, sentMs, receivedMs: sentMs })
    expect(calls).to.equal(2)
    noteServerTime({ dateMs: sentMs, sentMs, receivedMs: sentMs })
    expect(Math.abs(clockOffset())).to.be.below(1_000)
  })
})
