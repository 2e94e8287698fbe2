import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findSilence, isForgotten, type Silence } from './silence.ts'

const SILENCE: Silence = {
  id: 's1',
  services: ['check*'],
  from: '2026-01-01T10:00:00.000Z',
  to: '2026-01-01T11:00:00.000Z',
  reason: 'release',
  createdAt: '2026-01-01T09:00:00.000Z',
}
const INCIDENT = { service: 'checkout', severity: 'high' as const }
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`)

describe('silences', () => {
  it('hold back from their beginning to their end, the end not included', () => {
    const ids = ['09:59:59', '10:00:00', '10:59:59', '11:00:00'].map(time => findSilence([SILENCE], INCIDENT, at(time))?.id)
    expect(ids).to.deep.equal([undefined, 's1', 's1', undefined])
  })

  it('are for the services that their globs name and the severities that they name', () => {
    expect(findSilence([SILENCE], { ...INCIDENT, service: 'payment' }, at('10:30:00'))).to.equal(undefined)
    expect(findSilence([{ ...SILENCE, severities: ['low'] }], INCIDENT, at('10:30:00'))).to.equal(undefined)
    expect(findSilence([{ ...SILENCE, severities: ['low', 'high'] }], INCIDENT, at('10:30:00'))?.id).to.equal('s1')
  })

  it('of several the one that lasts longest counts', () => {
    const longer = { ...SILENCE, id: 's2', to: '2026-01-01T12:00:00.000Z' }
    expect(findSilence([SILENCE, longer], INCIDENT, at('10:30:00'))?.id).to.equal('s2')
  })

  it('are forgotten a week after their end', () => {
    expect(isForgotten(SILENCE, at('11:00:00') + 7 * 86_400_000 - 1)).to.equal(false)
    expect(isForgotten(SILENCE, at('11:00:00') + 7 * 86_400_000)).to.equal(true)
  })
})
