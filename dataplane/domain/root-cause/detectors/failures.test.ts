import { expect } from 'chai'
import { describe, it } from 'mocha'
import { INJECTIONS } from '../../../testing/mock-model/injections.ts'
import { AT_MS, finish, observation, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import { buildPattern } from '../../records/pattern.ts'
import type { Observation } from '../observed/observation.ts'
import { observeSystem } from '../observed/observed-system.ts'
import { findTies } from '../order/ties.ts'
import { findFailures, withoutFailed } from './failures.ts'

const [received, checked] = USUAL
const failing = (orders: string, payments?: string) => [
  received!,
  checked!,
  ...(payments === undefined ? [] : [{ service: 'payments', says: payments, afterMs: 5, isError: true }]),
  { service: 'orders', says: orders, afterMs: 5, isError: true },
  { service: 'gateway', says: 'order failed', afterMs: 5, isError: true },
]
const withWindow = (lines: typeof USUAL) => [
  ...traffic({ from: -5, to: 0, perMinute: 20, lines: () => USUAL }),
  ...traffic({ from: 0, to: 1, perMinute: 20, lines: i => (i % 2 === 0 ? lines : USUAL) }),
]
const untraced = (observations: readonly Observation[]) => observations.map(each => ({ ...each, traceId: '', spanId: '' }))

function failuresOf(observations: readonly Observation[]) {
  const system = finish(observeSystem(observations, AT_MS))
  const failures = finish(findFailures(system))
  const strongest = [...failures.findings].sort(([, a], [, b]) => b.score - a.score).map(([service]) => system.services[service]!)
  return { system, failures, strongest }
}

describe('errors, by the service where they begin', () => {
  it('of a request the first counts, the others are its echo', () => {
    const { strongest, failures, system } = failuresOf(withWindow(failing('no charge', 'card server refused the connection')))
    expect(strongest).to.deep.equal(['payments', 'orders', 'gateway'])
    expect(failures.failed.size).to.equal(10)
    expect(withoutFailed(system, failures).window.requests).to.have.length(10)
    expect([...failures.echoing].map(service => system.services[service])).to.have.members(['gateway', 'orders'])
  })

  it('without trace ids a state that lasts follows nobody on the same node: its disk is full for all of its services', () => {
    const echoing = (orders: string, nodeOfOrders: string, nodeOfGateway = 'node-2') => {
      const nodes: Readonly<Record<string, string>> = { orders: nodeOfOrders, payments: 'node-1', gateway: nodeOfGateway }
      const on = (each: Observation) => ({ ...each, node: nodes[each.service]! })
      const records = untraced(withWindow(failing(orders, 'write /data/a: no space left on device'))).map(on)
      const { failures, system } = failuresOf(records)
      return [...failures.echoing].map(service => system.services[service])
    }
    expect(echoing('order not stored: no space left on device', 'node-1')).not.to.include('orders')
    expect(echoing('order not stored: no space left on device', 'node-2')).to.include('orders')
    expect(echoing('order not stored: no space left on device', 'node-1', 'node-1')).to.include('orders')
    expect(echoing('order not stored', 'node-1')).to.include('orders')
  })

  it('one that names another service tells of that one', () => {
    const { strongest, failures } = failuresOf(withWindow(failing('payments does not answer')))
    expect(strongest).to.deep.equal(['payments', 'orders', 'gateway'])
    expect([...failures.findings.values()][0]!.hints[0]!.tell().text).to.equal(
      'orders blames it: “payments does not answer” 10 times, never before',
    )
  })

  it('along a chain the words of who calls it come before those of who calls that one, who is told with whom it blames', () => {
    const chain = [
      ...[received!, checked!],
      { service: 'gateway', says: 'orders: Read timed out', afterMs: 5, isError: true },
      { service: 'orders', says: 'payments does not answer', afterMs: 5, isError: true },
    ]
    const { failures, system, strongest } = failuresOf(untraced(withWindow(chain)))
    expect(strongest[0]).to.equal('payments')
    const texts = failures.findings.get(system.services.indexOf('payments'))!.hints.map(({ tell }) => tell().text)
    expect(texts.slice(0, 2).map(text => text.replace(/:.*$/, ''))).to.have.members([
      'orders blames it',
      'gateway blames orders, whose errors lead here',
    ])
    const strengths = failures.findings.get(system.services.indexOf('payments'))!.hints.map(({ strength }) => strength)
    expect(strengths[texts.findIndex(text => text.startsWith('orders'))]).to.be.above(
      strengths[texts.findIndex(text => text.startsWith('gateway'))]!,
    )
  })

  it('of several the one that tells why is told', () => {
    const says = (text: string) => [{ service: 'gateway', says: text, afterMs: 5, isError: true }]
    const [killed, restarted] = ['Out of memory: Killed process in container orders', 'Back-off restarting failed container orders'].map(
      says,
    )
    const records = [
      ...traffic({ from: -5, to: 0, perMinute: 20, lines: () => USUAL }),
      ...traffic({ from: 0, to: 1, perMinute: 20, lines: i => (i % 4 === 0 ? killed! : restarted!) }),
    ]
    const { failures, system } = failuresOf(untraced(records))
    const texts = failures.findings.get(system.services.indexOf('orders'))!.hints.map(({ tell }) => tell().text)
    expect(texts[0]).to.equal(
      'gateway tells of it: errors of several kinds, “Out of memory: Killed process in container orders” among them, 20 times, never before',
    )
  })

  it('a process that was killed for its memory is of the service that the platform restarts, unless there are several', () => {
    const killed = { service: 'kernel', says: 'Memory cgroup out of memory: Killed process <*> (java)', afterMs: 5, isError: true }
    const restarted = (name: string) => ({
      service: 'kubelet',
      says: `Back-off restarting failed container ${name}`,
      afterMs: 5,
      isError: true,
    })
    const told = (...restarts: readonly string[]) => {
      const calm = ['kernel', 'kubelet'].map(service => ({ service, says: 'well', afterMs: 5 }))
      const records = [
        ...traffic({ from: -5, to: 0, perMinute: 20, lines: () => [...USUAL, ...calm] }),
        ...traffic({ from: 0, to: 1, perMinute: 20, lines: i => [...calm, ...(i % 4 === 0 ? [killed] : []), ...restarts.map(restarted)] }),
      ]
      const { failures, system } = failuresOf(untraced(records))
      const hints = (service: string) => failures.findings.get(system.services.indexOf(service))?.hints.map(({ tell }) => tell().text) ?? []
      return hints('payments').some(text => text.startsWith('kernel tells of it: “Memory cgroup out of memory'))
    }
    expect(told('payments')).to.equal(true)
    expect(told('payments', 'gateway')).to.equal(false)
    expect(told()).to.equal(false)
  })

  it('one that could not resolve a name tells which, and who asked', () => {
    const firstOf = (says: string) => [...failuresOf(withWindow(failing(says))).failures.findings.values()][0]!.hints[0]!.tell().text
    expect(firstOf('getaddrinfo ENOTFOUND bank.internal')).to.equal(
      'cannot resolve the name bank.internal: “getaddrinfo ENOTFOUND bank.internal”: 10 times, never before',
    )
    expect(firstOf('dial tcp: lookup payments: no such host')).to.equal(
      'orders cannot resolve the name payments: “dial tcp: lookup payments: no such host”: 10 times, never before',
    )
  })

  for (const { name, text } of INJECTIONS)
    it(`one that orders to blame another service names none: ${name}`, () => {
      const pattern = buildPattern(`no charge: ${text}`).text
      expect(failuresOf(withWindow(failing(pattern))).strongest[0]).to.equal('orders')
    })

  it('without trace ids the one that others follow at once counts', () => {
    const { strongest } = failuresOf(untraced(withWindow(failing('no charge', 'card server refused the connection'))))
    expect(strongest).to.deep.equal(['payments', 'orders', 'gateway'])
  })

  it('without trace ids those that follow the errors of another service are tied to it; those that come at other times are not', () => {
    const elsewhere = [13, 24, 41, 58].map(second =>
      observation({ service: 'mailer', timeMs: AT_MS + second * 1_000, pattern: 'mailbox is full', isError: true }),
    )
    const shop = untraced(withWindow(failing('no charge', 'card server refused the connection')))
    const { failures, system } = failuresOf([...shop, ...elsewhere])
    const tieOf = finish(findTies(system, failures))
    expect(tieOf('gateway')).to.equal(tieOf('payments'))
    expect(tieOf('orders')).to.equal(tieOf('payments'))
    expect(tieOf('mailer')).to.not.equal(tieOf('payments'))
  })

  it('those that come all the time are no evidence', () => {
    const always = [...USUAL, { service: 'orders', says: 'no coupon', afterMs: 1, isError: true }]
    const observations = traffic({ from: -5, to: 1, perMinute: 20, lines: () => always })
    expect(failuresOf(observations).strongest).to.deep.equal([])
    expect(failuresOf(untraced(observations)).strongest).to.deep.equal([])
  })

  it('those whose every message differs count together', () => {
    const records = Array.from({ length: 120 }, (_, i) =>
      observation({
        service: 'orders',
        timeMs: AT_MS + (i - 100) * 3_000,
        pattern: i < 100 || i % 2 === 0 ? 'stored' : `failed ${'abcdefghijklmnopqrst'[i - 100]}`,
        isError: i >= 100 && i % 2 === 1,
      }),
    )
    const { failures } = failuresOf(records)
    const told = () => [...failures.findings.values()][0]!.hints[0]!.tell().text
    expect(told()).to.equal('errors of several kinds, “failed b” among them, 10 times, never before')
  })

  it('of several kinds the one that names a reason of its own is quoted', () => {
    const said = ['no cart', 'no cart', 'java.lang.OutOfMemoryError: Java heap space', 'no cart']
    const records = Array.from({ length: 120 }, (_, i) =>
      observation({ service: 'orders', timeMs: AT_MS + (i - 100) * 3_000, pattern: i < 100 ? 'stored' : said[i % 4]!, isError: i >= 100 }),
    )
    const texts = [...failuresOf(records).failures.findings.values()][0]!.hints.map(({ tell }) => tell().text)
    expect(texts).to.include('errors of several kinds, “java.lang.OutOfMemoryError: Java heap space” among them, 20 times, never before')
  })
})
