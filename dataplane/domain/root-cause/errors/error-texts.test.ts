import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, observation } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'
import {
  chooseChanges,
  chooseErrors,
  MAX_ERROR_TEXTS,
  MAX_WORDLESS_TEXTS,
  messageKey,
  type ReadError,
  withErrorTexts,
} from './error-texts.ts'

const error = (timeMs: number, pattern: string, more = {}) =>
  observation({ timeMs, isError: true, pattern, logId: `${pattern} ${timeMs}`, ...more })

const read = (message: string, exception = ''): ReadError => ({ message, exception, called: undefined })

const idsOf = (errors: readonly Observation[]) => errors.map(({ logId }) => logId)

const textsIn = (observations: readonly Observation[], errors: ReadonlyMap<string, ReadError>) =>
  finish(withErrorTexts(observations, errors))

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

  it('more of those whose patterns have no words, also of the time before', () => {
    const many = (pattern: string) => Array.from({ length: 200 }, (_, timeMs) => error(timeMs, pattern))
    const chosen = chooseErrors([...many('{"msg":<*>}'), ...many('refused by <*>')], 100)
    const count = (from: number, to: number) =>
      chosen.filter(({ pattern, timeMs }) => pattern.startsWith('{') && timeMs >= from && timeMs < to).length
    expect([count(0, 100), count(100, 200), chosen.filter(({ pattern }) => !pattern.startsWith('{')).length]).to.deep.equal([40, 41, 3])
    const services = Array.from({ length: 30 }, (_, i) => many('{"msg":<*>}').map(each => ({ ...each, service: `s${i}` }))).flat()
    expect(chooseErrors(services, 100)).to.have.length(MAX_ERROR_TEXTS + MAX_WORDLESS_TEXTS)
  })

  it('of a pattern without words are statements of their own; one that was not read is as the nearest that was', () => {
    const errors = [1, 5, 6, 20].map(timeMs => error(timeMs, '{"msg":<*>}'))
    const said = new Map([
      [messageKey(errors[0]!), read('{"msg":"no stock of 7"}')],
      [messageKey(errors[3]!), read('{"msg":"disk full"}')],
    ])
    const templates = textsIn([...errors, { ...errors[1]!, isError: false }], said).map(({ template }) => template)
    const [stock, disk] = ['{"msg":<*>} no stock of *', '{"msg":<*>} disk full']
    expect(templates).to.deep.equal([stock, stock, stock, disk, '{"msg":<*>}'])
  })

  it('and warnings of logfmt, whose words are masked, behind the errors', () => {
    const pattern = 'level=warning msg=<*>'
    const warnings = [1, 2].map(timeMs => observation({ timeMs, isWarning: true, pattern, logId: `w ${timeMs}` }))
    const told = { ...warnings[0]!, pattern: 'level=warning no room', logId: 'told' }
    expect(idsOf(chooseErrors([...warnings, told, error(3, 'refused by <*>')], 0))).to.deep.equal(['refused by <*> 3', 'w 1', 'w 2'])
    const said = new Map([[messageKey(warnings[0]!), read('level=warning msg="token refused"')]])
    const [first] = textsIn(warnings, said)
    expect([first!.template, first!.errorText]).to.deep.equal([`${pattern} token refused`, 'token refused'])
  })

  it('of events are told apart by their objects, however alike their words', () => {
    const pattern = '{"reason":<*>,"message":<*>,"type":"Warning"}'
    const events = ['orders', 'payments'].map((name, at) => ({ event: error(at, pattern), name }))
    const messageOf = (name: string) =>
      JSON.stringify({
        reason: 'Unhealthy',
        message: 'probe failed: the check of its health did not answer in time',
        involvedObject: { kind: 'Pod', name },
      })
    const said = new Map(events.map(({ event, name }) => [messageKey(event), read(messageOf(name))]))
    expect(
      new Set(
        textsIn(
          events.map(({ event }) => event),
          said,
        ).map(({ template }) => template),
      ).size,
    ).to.equal(2)
  })

  it('say what their messages say', () => {
    const errors = [error(1, '{<*>:<*>}'), error(2, '{<*>:<*>}')]
    const said = textsIn(errors, new Map([[messageKey(errors[0]!), read('{"msg":"disk full"}')]]))
    expect(said.map(({ errorText }) => errorText)).to.deep.equal(['disk full', undefined])
  })

  it('say both ends of a long message', () => {
    const [one] = [error(1, 'insert <*>')]
    const saidOf = (message: string) => textsIn([one], new Map([[messageKey(one), read(message)]]))[0]!.errorText!
    expect(saidOf(`insert failed: ${'x, '.repeat(2_000)}: disk full`)).to.match(/^insert failed: x.*… .*: disk full$/)
    expect(saidOf(`insert failed\n${'\tat a.B.c(B.java:1)\n'.repeat(200)}Caused by: disk full`)).to.equal('insert failed: disk full')
    expect(saidOf('x'.repeat(100_000)).length).to.be.at.most(1_024)
  })

  it('that may tell of a change are few, the nearest before the window first', () => {
    const plain = (seconds: number, pattern: string) =>
      observation({ timeMs: AT_MS + seconds * 1_000, isError: false, pattern, logId: `${pattern} ${seconds}` })
    const event = '{"involvedObject": {"name":<*>},"type":<*>}'
    const events = Array.from({ length: 100 }, (_, i) => plain(-i, event))
    const requests = Array.from({ length: 100 }, (_, i) => plain(-i, '{"msg":<*>}'))
    const chosen = finish(
      chooseChanges(
        [...events, ...requests, plain(-9, 'Configuration reloaded'), plain(-9, 'order stored'), plain(-900, 'server started')],
        AT_MS,
      ),
    )
    expect(chosen[0]!.pattern).to.equal('Configuration reloaded')
    expect(new Set(chosen.slice(1).map(({ pattern }) => pattern))).to.deep.equal(new Set([event]))
    expect(Math.min(...chosen.map(({ timeMs }) => timeMs))).to.be.above(AT_MS - 60_000)
  })

  it('that were read and are none say what may have changed', () => {
    const one = observation({ timeMs: AT_MS, isError: false, pattern: '{"msg":<*>}', logId: 'one' })
    const [said] = textsIn([one], new Map([[messageKey(one), read('{"msg":"server started","of":"ada"}')]]))
    expect(said!.change).to.deep.equal({ text: 'server started', whole: '{"msg":"server started","of":"ada"}', isEvent: false })
    expect(said!.template).to.equal(one.template)
  })

  it('say the exception that came as attributes, once', () => {
    const [one] = [error(1, 'order failed')]
    const saidOf = (message: string) => textsIn([one], new Map([[messageKey(one), read(message, 'Error: disk full')]]))[0]!.errorText
    expect(saidOf('order failed')).to.equal('order failed: Error: disk full')
    expect(saidOf('Error: disk full at 7')).to.equal('Error: disk full at 7')
  })

  it('of one time, which share an id where they have no trace, say each what its own message says', () => {
    const errors = ['orders', 'mailer'].map(service => error(1, 'refused by <*>', { service, logId: 'one' }))
    const said = textsIn(errors, new Map(errors.map(each => [messageKey(each), read(`refused by ${each.service}`)])))
    expect(said.map(({ errorText }) => errorText)).to.deep.equal(['refused by orders', 'refused by mailer'])
  })

  it('are given to the records piece by piece', () => {
    const errors = Array.from({ length: 20_000 }, (_, i) => error(i, 'refused by <*>'))
    const work = withErrorTexts(errors, new Map([[messageKey(errors[0]!), read('refused by orders')]]))
    let rests = 0
    while (work.next().done !== true) rests++
    expect(rests).to.be.at.least(20)
  })

  it('of the kubelet are told apart by their pods', () => {
    const pattern = 'E<*> <*> <*> pod_workers.go:<*>] <*> err=<*> pod=<*>'
    const errors = ['orders', 'mailer'].map((_, at) => error(at, pattern))
    const line = (pod: string) =>
      `E0303 04:00:01.118273    2114 pod_workers.go:1301] "Error syncing pod" err="no room for one more container of all" pod="shop/${pod}"`
    const said = textsIn(errors, new Map(errors.map((each, at) => [messageKey(each), read(line(['orders', 'mailer'][at]!))])))
    expect(new Set(said.map(({ template }) => template))).to.have.lengthOf(2)
  })
})
