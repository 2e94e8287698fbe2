import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { HttpError } from '../../../http/http-error.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createPasswordGate } from './password-gate.ts'
import { createSessions } from './sessions.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

describe('a clock that is set while the dashboard runs', () => {
  const cookieOf = (setCookie: string) => setCookie.slice(0, setCookie.indexOf(';'))

  it('gives no session that is good for years', () => {
    const clock = createFakeClock()
    const sessions = createSessions('admin:secret', clock)
    clock.shiftTimeOfDay(10 * YEAR_MS)
    const opened = cookieOf(sessions.open())
    expect(sessions.holds(opened)).to.equal(true)
    clock.shiftTimeOfDay(-10 * YEAR_MS)
    expect(sessions.holds(opened)).to.equal(false)
  })

  it('leaves sessions as they are when it goes back by an hour', () => {
    const clock = createFakeClock()
    const sessions = createSessions('admin:secret', clock)
    const opened = cookieOf(sessions.open())
    clock.shiftTimeOfDay(-HOUR_MS)
    expect(sessions.holds(opened)).to.equal(true)
  })

  it('keeps nobody out for longer than a minute after wrong passwords', () => {
    const clock = createFakeClock()
    const gate = createPasswordGate({ username: 'admin', password: 'secret' }, clock)
    const statusOf = (password: string) => {
      const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
      try {
        gate.admits({ headers: { authorization }, socket: { remoteAddress: '10.0.0.1' } } as unknown as IncomingMessage)
        return 200
      } catch (error) {
        return error instanceof HttpError ? error.status : error
      }
    }
    for (let i = 0; i < 10; i++) expect(statusOf('wrong')).to.equal(401)
    expect(statusOf('secret')).to.equal(429)
    clock.shiftTimeOfDay(-YEAR_MS)
    clock.advance(60_000)
    expect(statusOf('secret')).to.equal(200)
  })
})
