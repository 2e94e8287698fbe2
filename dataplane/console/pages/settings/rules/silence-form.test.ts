import { expect } from 'chai'
import { describe, it } from 'mocha'
import { matchesService } from '../../../../domain/tickets/service-glob.ts'
import { toLocalInput } from '../../../url-state/time-range.ts'
import { buildSilence, globOf, inOrder, NEW_SILENCE, silenceProblems, stateOf } from './silence-form.ts'

const NOW = Date.parse('2026-01-01T12:00:00.000Z')
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString()
const silence = (id: string, from: number, to: number) => ({
  id,
  services: ['*'],
  from: at(from),
  to: at(to),
  reason: 'r',
  createdAt: at(from),
})

describe('the form of a silence', () => {
  it('needs services and a reason', () => {
    expect(Object.keys(silenceProblems(NEW_SILENCE, NOW))).to.deep.equal(['services', 'reason'])
    expect(silenceProblems({ ...NEW_SILENCE, services: 'a', reason: 'deploy' }, NOW)).to.deep.equal({})
    expect(silenceProblems({ ...NEW_SILENCE, services: 'a'.repeat(257), reason: 'x'.repeat(501) }, NOW)).to.have.all.keys(
      'services',
      'reason',
    )
  })

  it('parts names by commas alone, as it says: names of services have spaces', () => {
    const form = { ...NEW_SILENCE, services: 'Order Service, cart', reason: 'deploy' }
    expect(buildSilence(form, NOW).services).to.deep.equal(['Order Service', 'cart'])
  })

  it('holds the service that an incident leads here with, whatever its name, and no other', () => {
    const names = [
      'cart',
      'Order Service',
      'a, b',
      '*',
      'ca*t',
      '?',
      '  cart ',
      'two\nlines',
      'Überweisung',
      '😀,😀',
      'n'.repeat(256),
      ',',
      ' ',
    ]
    for (const name of names) {
      const { services } = buildSilence({ ...NEW_SILENCE, services: globOf(name), reason: 'deploy' }, NOW)
      expect(services, name).to.have.length(1)
      expect(matchesService(services, name), name).to.equal(true)
      expect(matchesService(services, `${name}x`), name).to.equal(false)
    }
  })

  it('holds a service of a name that is too long by the beginning of the name', () => {
    for (const name of ['n'.repeat(257), '😀'.repeat(200)]) {
      const form = { ...NEW_SILENCE, services: globOf(name), reason: 'deploy' }
      expect(silenceProblems(form, NOW), name).to.deep.equal({})
      expect(matchesService(buildSilence(form, NOW).services, name), name).to.equal(true)
    }
  })

  it('begins now, and holds all severities unless some are chosen', () => {
    const form = { ...NEW_SILENCE, services: 'pay-*, cart,, pay-* ', reason: ' deploy ', length: '4h' }
    const expected = { services: ['pay-*', 'cart'], from: at(0), to: at(4), reason: 'deploy' }
    expect(buildSilence(form, NOW)).to.deep.equal(expected)
    expect(buildSilence({ ...form, severities: ['low'] }, NOW)).to.deep.equal({ ...expected, severities: ['low'] })
  })

  it('begins later where work is planned, by the clock of the browser, and does not end before now', () => {
    const form = { ...NEW_SILENCE, services: '*', reason: 'upgrade', length: '4h' }
    const begins = toLocalInput(NOW + 6 * 3_600_000)
    expect(buildSilence({ ...form, begins }, NOW)).to.include({ from: at(6), to: at(10) })
    expect(silenceProblems({ ...form, begins }, NOW)).to.deep.equal({})
    expect(silenceProblems({ ...form, begins: toLocalInput(NOW - 3_600_000) }, NOW)).to.deep.equal({})
    for (const wrong of [toLocalInput(NOW - 4 * 3_600_000), '0026-01-01T10:00', 'soon'])
      expect(Object.keys(silenceProblems({ ...form, begins: wrong }, NOW)), wrong).to.deep.equal(['begins'])
  })
})

describe('silences', () => {
  it('that hold come first, then those that come, then those that are over', () => {
    expect([stateOf(silence('a', -1, 1), NOW), stateOf(silence('a', 1, 2), NOW), stateOf(silence('a', -2, 0), NOW)]).to.deep.equal([
      'active',
      'coming',
      'over',
    ])
    const ordered = inOrder([silence('over', -3, -1), silence('long', -1, 5), silence('coming', 1, 2), silence('short', -1, 1)], NOW)
    expect(ordered.map(({ id }) => id)).to.deep.equal(['short', 'long', 'coming', 'over'])
  })
})
