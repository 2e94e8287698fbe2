import { expect } from 'chai'
import { describe, it } from 'mocha'
import { observation } from '../../testing/root-cause-fixture.ts'
import { chooseErrors, MAX_ERROR_TEXTS, messageKey, type ReadError, withErrorTexts } from './error-texts.ts'
import type { Observation } from './observation.ts'

const error = (timeMs: number, pattern: string, more = {}) =>
  observation({ timeMs, isError: true, pattern, logId: `${pattern} ${timeMs}`, ...more })

const read = (message: string, exception = ''): ReadError => ({ message, exception, called: undefined })

const idsOf = (errors: readonly Observation[]) => errors.map(({ logId }) => logId)

describe('errors whose messages are read', () => {
  it('the first, the middle and the last of each pattern', () => {
    const errors = [5, 1, 3, 2, 4].map(timeMs => error(timeMs, 'refused by <*>'))
    expect(idsOf(chooseErrors(errors, 0))).to.deep.equal(['refused by <*> 1', 'refused by <*> 3', 'refused by <*> 5'])
    expect(idsOf(chooseErrors(errors, 5))).to.deep.equal(['refused by <*> 5'])
    expect(chooseErrors([{ ...errors[0]!, isError: false }], 0)).to.deep.equal([])
  })

  it('a bounded number, each pattern before any twice', () => {
    const errors = Array.from({ length: 50 }, (_, i) => [1, 2, 3].map(timeMs => error(timeMs, `pattern-${'x'.repeat(i)} <*>`))).flat()
    const chosen = idsOf(chooseErrors(errors, 0))
    expect(chosen).to.have.length(MAX_ERROR_TEXTS)
    expect(chosen.filter(id => id.endsWith(' 1'))).to.have.length(50)
  })

  it('say what their messages say', () => {
    const errors = [error(1, '{<*>:<*>}'), error(2, '{<*>:<*>}')]
    const said = withErrorTexts(errors, new Map([[messageKey(errors[0]!), read('{"msg":"disk full"}')]]))
    expect(said.map(({ errorText }) => errorText)).to.deep.equal(['disk full', undefined])
  })

  it('say the exception that came as attributes, once', () => {
    const [one] = [error(1, 'order failed')]
    const saidOf = (message: string) => withErrorTexts([one], new Map([[messageKey(one), read(message, 'Error: disk full')]]))[0]!.errorText
    expect(saidOf('order failed')).to.equal('order failed: Error: disk full')
    expect(saidOf('Error: disk full at 7')).to.equal('Error: disk full at 7')
  })

  it('of one time, which share an id where they have no trace, say each what its own message says', () => {
    const errors = ['orders', 'mailer'].map(service => error(1, 'refused by <*>', { service, logId: 'one' }))
    const said = withErrorTexts(errors, new Map(errors.map(each => [messageKey(each), read(`refused by ${each.service}`)])))
    expect(said.map(({ errorText }) => errorText)).to.deep.equal(['refused by orders', 'refused by mailer'])
  })
})
