import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, type Line, observation, rootCauseOf, shop, USUAL } from '../../testing/root-cause-fixture.ts'
import type { Observation, ReadChange } from './observed/observation.ts'
import { type ChangeNature, changeIn } from './recent-changes.ts'

/** A shop whose payments fail from `AT_MS` on. */
const FAILING = shop(() => USUAL.map(line => (line.says === 'card charged' ? { ...line, says: 'no rate for EUR', isError: true } : line)))

const saidAt = (seconds: number, service: string, pattern: string, change?: Partial<ReadChange>): Observation => ({
  ...observation({ service, pattern, timeMs: AT_MS + seconds * 1_000, logId: `${service} ${seconds}` }),
  ...(change !== undefined && { change: { text: pattern, whole: pattern, isEvent: false, ...change } }),
})
const toldOf = (...records: readonly Observation[]) =>
  /Just before: (.*?)\.(?: Next:|$)/.exec(rootCauseOf([...FAILING, ...records]).summary)?.[1]

const LINES: Readonly<Record<string, ChangeNature | undefined>> = {
  'Started CheckoutApplication in <*> seconds': 'start',
  '2026-01-01 12:00:00.123 INFO 1 --- [main] c.s.Main : Starting PaymentsApplication using Java 21': 'start',
  'Started container orders: Started: Pod orders-7d9f5c4b8d-x2v4p': 'start',
  'Ready to accept connections tcp': 'start',
  'listening on :8080': 'start',
  'Stopping container orders': 'stop',
  'received fast shutdown request': 'stop',
  'Received SHUTDOWN from user admin': 'stop',
  'SIGTERM received, draining connections': 'stop',
  'Evicted pod orders from node': 'stop',
  'Scaled up replica set orders-7d9f5c4b8d to 1': 'release',
  'Helm upgrade succeeded': 'release',
  'Configuration reloaded from /etc/app.yaml': 'configuration',
  'Secrets rotated': 'configuration',
  'configuration rolled back to revision 41': 'configuration',
  'feature flag updated': 'flag',
  'Migrating schema <*> to version <*>': 'schema',
  'Stepping down from primary in response to heartbeat': 'leader',
  'Schema is up to date. No migration necessary.': undefined,
  'request started': undefined,
  'HTTP GET /v<*>/orders/<*> started': undefined,
  'POST /orders <*> started': undefined,
  'Starting order 17': undefined,
  'order stored': undefined,
  'comment posted: the release of orders failed, deployed just before': undefined,
}

describe('changes before a failure', () => {
  for (const [line, nature] of Object.entries(LINES))
    it(`${line}: ${nature ?? 'none'}`, () => {
      expect(changeIn(line)).to.equal(nature)
    })

  it('are told of the service that fails, with their version, and lead to their record', () => {
    const started = saidAt(-90, 'payments', 'Started PaymentsApplication v<*> in <*> seconds', {
      text: 'Started PaymentsApplication v2.14.0 in 8.1 seconds',
    })
    expect(toldOf(started)).to.equal('payments started at 11:58:30 UTC (“Started PaymentsApplication v2.14.0 in <*> seconds”)')
    const { reasons } = rootCauseOf([...FAILING, started]).candidates[0]!
    expect(reasons.at(-1)).to.deep.include({ kind: 'change', logIds: ['payments -90'] })
  })

  it('are told of others where they came right before', () => {
    const flag = (seconds: number) => saidAt(seconds, 'flags', 'feature flag <*> updated')
    expect(toldOf(flag(-20))).to.equal('flags had a flag changed at 11:59:40 UTC (“feature flag <*> updated”)')
    expect(toldOf(flag(-300))).to.equal(undefined)
    expect(toldOf(flag(20))).to.equal(undefined)
  })

  it('are those of the service that an event of the platform is about', () => {
    const event = (object: string) =>
      saidAt(-20, 'kube-events', '{"involvedObject": {"name":<*>}}', { text: `Started container x: Started: ${object}`, isEvent: true })
    expect(toldOf(event('Pod payments-7d9f5c4b8d-x2v4p'))).to.match(/^payments started at/)
    expect(toldOf(event('Pod report-7d9f5c4b8d-x2v4p'))).to.equal(undefined)
  })

  it('are those of the service whose pod the kubelet names', () => {
    const killed = (pod: string) =>
      saidAt(-5, 'kubelet', 'Killing container with a grace period', { text: `Killing container with a grace period: pod prod/${pod}` })
    expect(toldOf(killed('payments-7d9f5c4b8d-x2v4p'))).to.match(/^payments stopped at/)
    expect(toldOf(killed('report-7d9f5c4b8d-x2v4p'))).to.equal(undefined)
  })

  it('are those of the service that a release names', () => {
    const release = { text: 'Helm upgrade succeeded', whole: '{"msg":"Helm upgrade succeeded","release":"payments"}' }
    expect(toldOf(saidAt(-20, 'fluxcd', '{"msg":<*>}', release))).to.match(/^payments was released at 11:59:40 UTC/)
  })

  it('are not told where they are routine, and hide what is quoted', () => {
    const jobs = [-600, -400, -200, -20].map(seconds => saidAt(seconds, 'payments', 'Migrating schema <*>'))
    expect(toldOf(...jobs)).to.equal(undefined)
    const secret = saidAt(-20, 'payments', 'Configuration changed: <*>', { text: 'Configuration changed: "token v1.2.3 of ada"' })
    expect(toldOf(secret)).to.equal('payments had its configuration changed at 11:59:40 UTC (“Configuration changed: <*>”)')
  })

  it('are not told where they come all the time, and are where they began lately', () => {
    const starts = (fromSeconds: number) =>
      Array.from({ length: Math.ceil(-fromSeconds / 12) }, (_, at) => saidAt(fromSeconds + 12 * at, 'payments', 'worker <*> started'))
    expect(toldOf(...starts(-900))).to.equal(undefined)
    expect(toldOf(...starts(-240))).to.match(/^payments started at/)
  })

  it('a service that stopped just before is the one that refused a connection by its address', () => {
    const refused: readonly Line[] = [
      ...USUAL.slice(0, 3),
      { service: 'orders', says: 'connect ECONNREFUSED <*>', afterMs: 3, isError: true },
      { service: 'gateway', says: 'request failed', afterMs: 3, isError: true },
    ]
    // Back after two of three minutes.
    const requests = shop(i => (i < 80 ? refused : USUAL)).map(each => ({ ...each, traceId: '', spanId: '' }))
    const stopped = saidAt(-1, 'payments', 'SIGTERM received, draining connections')
    expect(rootCauseOf([...requests, stopped]).candidates[0]!.service).to.equal('payments')
    expect(rootCauseOf(requests).candidates[0]!.service).to.equal('orders')
  })

  it('make nothing of a time without a fault', () => {
    const { summary } = rootCauseOf([...shop(() => USUAL), saidAt(-20, 'payments', 'Helm upgrade succeeded')])
    expect(summary).to.not.match(/^Most likely|Just before/)
  })

  it('are read in a bounded time, whatever comes', () => {
    const startedMs = performance.now()
    for (const text of ['a', 'a ', 'a.', '<*> ', 'config ', 'flag a', 'starting ']) changeIn(text.repeat(100_000))
    expect(performance.now() - startedMs).to.be.below(1_000)
  })
})
