import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, type Line, noise, observation, rootCauseOf, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import type { Observation } from '../observed/observation.ts'

/** Each request goes to `orders`, there to `db`, then to `payments`, then to `stock`; each caller has the last word. */
const SHOP: readonly Line[] = [
  { service: 'gateway', says: 'order received', afterMs: 0 },
  { service: 'orders', says: 'order checked', afterMs: 8 },
  { service: 'db', says: 'row inserted', afterMs: 4 },
  { service: 'orders', says: 'order stored', afterMs: 4 },
  ...USUAL.filter(({ service }) => service === 'payments'),
  { service: 'orders', says: 'order paid', afterMs: 5 },
  { service: 'stock', says: 'item reserved', afterMs: 5 },
  { service: 'orders', says: 'order done', afterMs: 5 },
  { service: 'gateway', says: 'order answered', afterMs: 7 },
]
const until = (says: string, ...then: readonly Line[]) => [
  ...SHOP.slice(
    0,
    SHOP.findIndex(line => line.says === says),
  ),
  ...then,
]
const error = (service: string, says: string): Line => ({ service, says, afterMs: 400, isError: true })
const given = (lines: (i: number) => readonly Line[], more: readonly Observation[] = []) => [
  ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => SHOP }),
  ...traffic({ from: 0, to: 3, perMinute: 40, lines }),
  ...more,
]
const firstOf = (observations: readonly Observation[]) => rootCauseOf(observations).candidates[0]?.service
const LATE = [
  'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  'Read timed out',
  'timeout of <*>ms exceeded',
  'no charge: upstream request timeout',
]

describe('for whom services wait', () => {
  for (const says of LATE)
    it(`the service that hangs comes before those that wait for it: ${says}`, () => {
      const hung = until('card charged', error('orders', says), error('gateway', says))
      expect(firstOf(given(() => hung))).to.equal('payments')
      // Lines that go by the clock go on.
      const heartbeat = Array.from({ length: 108 }, (_, i) =>
        observation({ service: 'payments', pattern: 'alive', timeMs: AT_MS - 900_000 + i * 10_000 }),
      )
      expect(firstOf(given(() => hung, heartbeat))).to.equal('payments')
    })

  it('the words of a service that waits are told behind what is counted of the one for which it waits', () => {
    const hung = until('card charged', error('orders', 'Read timed out'), error('gateway', 'order failed'))
    expect(rootCauseOf(given(() => hung)).summary).to.match(
      /^Most likely payments: .{1,200}, while orders waits: “Read timed out” is a new error: 120 times, never before; first at \S+ UTC\. Next: orders/,
    )
  })

  it('also where it still says what it begins with, and where the outermost gave up first, and blames who waits', () => {
    expect(firstOf(given(() => until('receipt written', error('orders', 'Read timed out'), error('gateway', 'Read timed out'))))).to.equal(
      'payments',
    )
    const outermost = until('card charged', error('gateway', 'upstream timed out: http://orders:<*>'), error('orders', 'Read timed out'))
    expect(firstOf(given(() => outermost))).to.equal('payments')
  })

  it('without traces it is the one that begins and does not end, and complains of nobody', () => {
    const hung = until(
      'receipt written',
      error('orders', 'Read timed out'),
      error('gateway', 'POST http://orders:8080 failed: Read timed out'),
    )
    const untraced = given(() => hung).map(each => ({ ...each, traceId: '', spanId: '' }))
    const [found, ...others] = rootCauseOf(untraced).candidates
    expect(found?.service).to.equal('payments')
    expect(found?.reasons[0]?.text).to.match(/^“receipt written” .*, while orders waits: “Read timed out”/)
    expect(others.map(({ service }) => service)).to.include('stock')
    // One that gives its answers all the same is not meant.
    const answered = untraced.concat(
      given(() => until('order paid')).flatMap(each =>
        each.service === 'payments' && each.timeMs >= AT_MS ? [{ ...each, traceId: '', spanId: '' }] : [],
      ),
    )
    expect(firstOf(answered)).to.not.equal('payments')
  })

  it('comes before one that is merely not reached, where the clocks of both are off', () => {
    const hung = until('receipt written', error('orders', 'Read timed out'), error('gateway', 'order failed'))
    const late = given(() => hung).map(each => (each.service === 'payments' ? { ...each, timeMs: each.timeMs + 1_200 } : each))
    expect(firstOf(late)).to.equal('payments')
  })

  it('of several that are silent it is the one that requests reach first', () => {
    expect(
      firstOf(given(() => until('row inserted', error('orders', 'context deadline exceeded'), error('gateway', 'order failed')))),
    ).to.equal('db')
  })

  it('is the one that is not heard in the requests which fail, though others still come there', () => {
    const refused = until('card charged', error('orders', 'no charge: context deadline exceeded'), error('gateway', 'order failed'))
    const observations = given(i => (noise(i) < 0.6 ? refused : SHOP))
    expect(firstOf(observations)).to.equal('payments')
    // Others are asked before it, and answer.
    expect(rootCauseOf(observations).candidates.map(({ service }) => service)).to.not.include('db')
  })

  it('is the one in whose place the error of the one that waits stands, where others are called between and the caller says no more', () => {
    const line = (service: string, says: string) => ({ service, says, afterMs: 6 })
    const whole = [
      ...[line('gateway', 'order received'), line('orders', 'order checked'), line('db', 'row inserted'), line('payments', 'card charged')],
      line('gateway', 'order answered'),
    ]
    const failing = [...whole.slice(0, 3), error('orders', 'connect ECONNREFUSED 10.3.4.5:8080'), error('gateway', 'status <*>')]
    for (const share of [0.6, 1]) {
      const observations = [
        ...traffic({ from: -15, to: 0, perMinute: 40, lines: () => whole }),
        ...traffic({ from: 0, to: 3, perMinute: 40, lines: i => (noise(i) < share ? failing : whole) }),
      ]
      expect(firstOf(observations), `${share}`).to.equal('payments')
    }
  })

  it('without traces it is the one that is usually heard soonest behind the one that waits, of those that fell silent', () => {
    const refused = until(
      'card charged',
      error('orders', 'dial tcp 10.3.4.5:8080: connect: connection refused'),
      error('gateway', 'order failed: internal'),
    )
    const untraced = given(() => refused).map(each => ({ ...each, traceId: '', spanId: '' }))
    expect(firstOf(untraced)).to.equal('payments')
  })

  it('is a broker that tells once of a state that lasts, where a message could not be sent', () => {
    const stopped = (i: number) =>
      noise(i) < 0.8 ? until('row inserted', error('orders', 'publish timed out'), error('gateway', 'order failed: 503')) : SHOP
    const alarm = ['set', 'cleared'].map(what =>
      given(stopped, [
        observation({ service: 'broker', pattern: 'accepting a connection', timeMs: AT_MS - 300_000 }),
        observation({ service: 'broker', pattern: `memory resource limit alarm ${what} on node <*>`, timeMs: AT_MS + 300, isError: true }),
      ]),
    )
    for (const hasTraces of [true, false])
      expect(
        alarm.map(observations => firstOf(observations.map(each => (hasTraces ? each : { ...each, traceId: '', spanId: '' })))),
        `${hasTraces}`,
      ).to.deep.equal(['broker', 'orders'])
  })

  it('a service waits for nobody that its caller calls after it, nor where it tells another reason', () => {
    const late = (says: string) =>
      until('receipt written', error('payments', says), error('orders', 'payment failed'), error('gateway', 'order failed'))
    for (const says of ['bank: read timed out', 'NullPointerException: no card'])
      expect(firstOf(given(() => late(says))), says).to.equal('payments')
    const broken = until('card charged', error('orders', 'NullPointerException: no cart'), error('gateway', 'order failed'))
    expect(firstOf(given(() => broken))).to.equal('orders')
  })

  describe('a pool without a free connection', () => {
    const slow = (says: string) =>
      Array.from({ length: 30 }, (_, i) => observation({ service: 'db', pattern: says, timeMs: AT_MS + 2_000 + i * 5_900 }))
    const waiting = (says: string) => (i: number) =>
      noise(i) < 0.8 ? until('row inserted', error('orders', says), error('gateway', 'order failed: 504')) : SHOP

    for (const [says, told] of [
      ['HikariPool-<*> - Connection is not available, request timed out after <*>ms', 'duration: <*> ms statement: SELECT * FROM orders'],
      ['timeout waiting for connection', 'slow query: <*> s: SELECT * FROM orders'],
      ['QueuePool limit of size <*> overflow <*> reached, connection timed out', '# Query_time: <*> Lock_time: <*> Rows_sent: <*>'],
      ['ResourceRequest timed out: Knex: Timeout acquiring a connection', '{"t":{"$date":<*>},"s":"I","attr":{"durationMillis":<*>}}'],
    ] as const)
      it(`is that of the database that tells of slow statements: ${says}`, () => {
        const { summary, candidates } = rootCauseOf(given(waiting(says), slow(told)))
        expect(candidates[0]?.service).to.equal('db')
        expect(candidates[1]?.service).to.equal('orders')
        if (!told.startsWith('{')) expect(summary).to.include(told.slice(0, 20))
      })

    it('is of the service itself where no statement is slow, and where it tells another reason', () => {
      expect(firstOf(given(waiting('HikariPool-<*> - Connection is not available, request timed out after <*>ms')))).to.equal('orders')
      expect(firstOf(given(waiting('NullPointerException: no cart'), slow('slow query: <*> s: SELECT * FROM reports')))).to.equal('orders')
    })
  })
})
