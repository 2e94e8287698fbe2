import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, type Line, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { readErrors } from '../errors/error-reader.ts'
import { type ObservedRecord, observeSystem } from '../observed/observed-system.ts'
import { findEchoes, followNames, type Tally, tallyErrors } from './error-tallies.ts'

const [GATEWAY, ORDERS, PAYMENTS] = [0, 1, 2]
const tally = (speaker: number, service: number, records = 1): Tally => ({
  ...{
    service,
    speaker,
    isEcho: false,
    blamed: new Set<number>(),
    followed: new Set<number>(),
    kind: undefined,
    units: [0, records],
    isOfRequests: false,
    records: [],
  },
})
const errorsAt = (service: number, ...times: readonly number[]) =>
  times.map(timeMs => ({ timeMs, isError: true, kind: { service } }) as unknown as ObservedRecord)
const inTime = (...errors: readonly (readonly ObservedRecord[])[]) => errors.flat().sort((a, b) => a.timeMs - b.timeMs)

describe('errors by the service where they begin', () => {
  it('are tallied for the one that wrote the first of a request, or that it names; those of others are echoes', () => {
    const failing: readonly Line[] = [
      ...USUAL.slice(0, 2),
      { service: 'payments', says: 'card server refused the connection', afterMs: 5, isError: true },
      { service: 'gateway', says: 'order failed', afterMs: 5, isError: true },
    ]
    const system = finish(observeSystem(traffic({ from: 0, to: 1, perMinute: 20, lines: () => failing }), AT_MS))
    const risen = new Set(system.kinds.filter(({ isError }) => isError))
    const failed = new Set<(typeof system.window.requests)[number]>()
    const reader = readErrors(system.services, risen)
    const told = finish(tallyErrors(system, { risen, failed, reader, echoed: new Map() }))
      .filter(({ kind }) => kind === undefined)
      .map(({ service, isEcho, units, followed }) => ({
        ...{ service: system.services[service], isEcho, count: units[1] },
        follows: [...followed].map(each => system.services[each]),
      }))
    expect(told).to.deep.equal([
      { service: 'payments', isEcho: false, count: 20, follows: [] },
      { service: 'gateway', isEcho: true, count: 20, follows: ['payments'] },
    ])
    expect(failed.size).to.equal(20)
  })

  it('lead to the end of a chain of services that name the next, by way of the first', () => {
    const followed = followNames([tally(GATEWAY, ORDERS), tally(ORDERS, PAYMENTS), tally(PAYMENTS, PAYMENTS)], [])
    expect(followed.map(({ service, via }) => ({ service, via }))).to.deep.equal([
      { service: PAYMENTS, via: ORDERS },
      { service: PAYMENTS, via: undefined },
      { service: PAYMENTS, via: undefined },
    ])
  })

  it('lead on to the service whose errors those of the named one follow', () => {
    expect(followNames([tally(GATEWAY, ORDERS)], [[ORDERS, PAYMENTS]])[0]).to.include({ service: PAYMENTS, via: ORDERS })
  })

  it('end where two services name each other', () => {
    const followed = followNames([tally(GATEWAY, ORDERS), tally(ORDERS, GATEWAY)], [])
    expect(followed.map(({ service }) => service)).to.deep.equal([ORDERS, GATEWAY])
  })

  it('follow those of another service at once, and are far from them otherwise: an echo', () => {
    const first = errorsAt(PAYMENTS, 0, 60_000, 120_000)
    expect(findEchoes(inTime(first, errorsAt(ORDERS, 100, 60_100, 120_100)))).to.deep.equal([[ORDERS, PAYMENTS]])
    expect(findEchoes(inTime(first, errorsAt(ORDERS, 30_000, 90_000, 150_000)))).to.deep.equal([])
  })

  it('a single error follows another one by chance', () => {
    const failing = errorsAt(PAYMENTS, 1_000, 21_000, 41_000)
    expect(findEchoes(inTime(failing, errorsAt(ORDERS, 1_200)))).to.deep.equal([])
    expect(findEchoes(inTime(failing, errorsAt(ORDERS, 1_200, 21_200)))).to.deep.equal([[ORDERS, PAYMENTS]])
  })

  it('that come all the time are followed by chance alone', () => {
    const always = errorsAt(PAYMENTS, ...Array.from({ length: 100 }, (_, i) => i * 100))
    expect(findEchoes(inTime(always, errorsAt(ORDERS, 1_050, 5_050)))).to.deep.equal([])
  })
})
