import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AT_MS, finish, traffic, USUAL } from '../../../testing/root-cause-fixture.ts'
import type { Failures } from '../detectors/failures.ts'
import type { Nature, Waiting } from '../findings.ts'
import { type Kind, observeSystem } from '../observed/observed-system.ts'
import { rankSuspects } from './suspects.ts'

/** `gateway` calls `orders`, which calls `payments`. */
const system = finish(observeSystem(traffic({ from: -5, to: 1, perMinute: 10, lines: () => USUAL }), AT_MS))
const [gateway, orders, payments] = ['gateway', 'orders', 'payments'].map(name => system.services.indexOf(name)) as [number, number, number]

interface Seen {
  readonly service: number
  readonly strength: number
  readonly nature: Nature
  readonly isErrors?: boolean
  readonly isOwnWords?: boolean
  readonly isKill?: boolean
  readonly waits?: Waiting
  readonly statement?: number
}

function ranked(seen: readonly Seen[], echoing: readonly number[] = [], of = system, risen: ReadonlySet<Kind> = new Set()) {
  const findings = new Map(
    [...Map.groupBy(seen, ({ service }) => service)].map(([service, hints]) => [
      service,
      { score: hints[0]!.strength, hints: hints.map((each, subject) => ({ ...each, subject, tell: () => expect.fail('not told') })) },
    ]),
  )
  const failures: Failures = {
    findings: new Map(),
    risen,
    recovered: new Set(),
    failed: new Set(),
    worstShare: 0,
    origins: new Set(),
    echoing: new Set(echoing),
    blames: [],
  }
  return finish(rankSuspects([{ detector: 'any', findings, scale: 2 }], of, failures)).map(({ service }) => of.services[service])
}

describe('the order of suspects', () => {
  it('is that of their strongest evidence', () => {
    const seen = [gateway, orders, payments].map((service, at) => ({ service, strength: 4 - at, nature: 'fault' as const }))
    expect(ranked(seen)).to.deep.equal(['gateway', 'orders', 'payments'])
  })

  it('begins with the callee of those that are about as strong, along the whole chain', () => {
    const seen = [gateway, orders, payments].map((service, at) => ({ service, strength: 4 - at / 10, nature: 'broken' as const }))
    expect(ranked(seen)).to.deep.equal(['payments', 'orders', 'gateway'])
  })

  it('begins with the caller of those that are silent: the others are not called', () => {
    const seen = [payments, orders].map(service => ({ service, strength: 4, nature: 'silence' as const }))
    expect(ranked(seen)).to.deep.equal(['orders', 'payments'])
  })

  it('puts who was killed before who complains five times as loud, and no other who says why', () => {
    const complaining = { service: orders, strength: 10, nature: 'remote' as const, isErrors: true, isOwnWords: true }
    const dead = { service: payments, strength: 2, nature: 'cause' as const, isErrors: true }
    expect(ranked([complaining, { ...dead, isKill: true }])).to.deep.equal(['payments', 'orders'])
    expect(ranked([complaining, dead])).to.deep.equal(['orders', 'payments'])
    expect(
      ranked([
        { ...complaining, nature: 'fault' },
        { ...dead, isKill: true },
      ]),
    ).to.deep.equal(['orders', 'payments'])
  })

  it('puts who fails before who is silent, unless the one that fails blames another', () => {
    const silent = { service: payments, strength: 4, nature: 'silence' as const }
    expect(ranked([silent, { service: orders, strength: 4, nature: 'broken' }])).to.deep.equal(['orders', 'payments'])
    expect(ranked([silent, { service: orders, strength: 4, nature: 'broken' }], [orders])).to.deep.equal(['payments', 'orders'])
    expect(ranked([silent, { service: orders, strength: 7, nature: 'remote' }])).to.deep.equal(['payments', 'orders'])
  })

  it('puts who is silent before a louder caller whom nobody answers, where nothing is heard of it any more', () => {
    const usual = traffic({ from: -5, to: 0, perMinute: 10, lines: () => USUAL })
    const without = (name: string) =>
      finish(
        observeSystem(
          [...usual, ...traffic({ from: 0, to: 1, perMinute: 10, lines: () => USUAL.filter(({ service }) => service !== name) })],
          AT_MS,
        ),
      )
    const seen = (caller: number, waits: Waiting): readonly Seen[] => [
      { service: payments, strength: 4, nature: 'silence' },
      { service: caller, strength: 7, nature: 'fault', isErrors: true, isOwnWords: true, waits },
    ]
    expect(ranked(seen(orders, 'answer'), [], without('payments'))).to.deep.equal(['payments', 'orders'])
    expect(ranked(seen(orders, 'nothing'), [], without('payments'))).to.deep.equal(['orders', 'payments'])
    expect(ranked(seen(orders, 'answer'))).to.deep.equal(['orders', 'payments'])
  })

  it('puts the one for which a weaker one waits before another that is silent', () => {
    const line = (service: string, says: string) => ({ service, says, afterMs: 5 })
    const whole = ['asked', 'stored', 'paid', 'done'].map(says => line('orders', says))
    const lines = [whole[0]!, line('db', 'inserted'), whole[1]!, line('cards', 'charged'), whole[2]!, whole[3]!]
    const of = finish(
      observeSystem(
        [
          ...traffic({ from: -5, to: 0, perMinute: 10, lines: () => lines }),
          ...traffic({ from: 0, to: 1, perMinute: 10, lines: () => whole }),
        ],
        AT_MS,
      ),
    )
    const [waiting, db, cards] = ['orders', 'db', 'cards'].map(name => of.services.indexOf(name)) as [number, number, number]
    const seen = (waits: Waiting): readonly Seen[] => [
      { service: cards, strength: 4.2, nature: 'silence' },
      { service: db, strength: 4.1, nature: 'silence' },
      { service: waiting, strength: 4, nature: 'remote', isErrors: true, isOwnWords: true, waits },
    ]
    expect(ranked(seen('answer'), [], of)).to.deep.equal(['db', 'cards', 'orders'])
    expect(ranked(seen('nothing'), [], of)).to.deep.equal(['cards', 'db', 'orders'])
  })

  it('puts who fails before who is louder and only blames others', () => {
    const loud = { service: orders, strength: 7, nature: 'remote' as const }
    expect(ranked([loud, { service: payments, strength: 4, nature: 'fault' }])).to.deep.equal(['payments', 'orders'])
    expect(ranked([loud, { service: payments, strength: 3, nature: 'fault' }])).to.deep.equal(['orders', 'payments'])
  })

  it('puts who says why before who is much louder, and says nothing', () => {
    const why = { service: payments, strength: 0.6, nature: 'cause' as const, isErrors: true }
    expect(ranked([{ service: orders, strength: 5, nature: 'broken' }, why])).to.deep.equal(['payments', 'orders'])
    expect(ranked([{ service: orders, strength: 5, nature: 'fault', isErrors: true, isOwnWords: true }, why])).to.deep.equal([
      'orders',
      'payments',
    ])
    expect(ranked([{ service: orders, strength: 7, nature: 'broken' }, why])).to.deep.equal(['orders', 'payments'])
  })

  it('puts changes behind errors, also of a service whose requests break off the more', () => {
    const failing = [
      { service: payments, strength: 4, nature: 'broken' as const },
      { service: payments, strength: 2, nature: 'fault' as const, isErrors: true },
    ]
    expect(ranked([...failing, { service: orders, strength: 9, nature: 'change' }])).to.deep.equal(['payments', 'orders'])
  })

  it('puts who is silent first where somebody says why, unless that is said hardly ever', () => {
    const others = { service: orders, strength: 4, nature: 'broken' as const }
    const silent = { service: payments, strength: 4, nature: 'silence' as const }
    const why = (strength: number) => ({ service: payments, strength, nature: 'cause' as const, isErrors: true })
    expect(ranked([others, silent, why(2)])).to.deep.equal(['payments', 'orders'])
    expect(ranked([others, silent, why(0.3)])).to.deep.equal(['orders', 'payments'])
  })

  it('puts what is new below errors that are new, however much it is', () => {
    const release = { service: gateway, strength: 40, nature: 'change' as const }
    expect(ranked([release, { service: orders, strength: 3, nature: 'fault', isErrors: true }])).to.deep.equal(['orders', 'gateway'])
    expect(ranked([release, { service: orders, strength: 1, nature: 'fault', isErrors: true }])).to.deep.equal(['gateway', 'orders'])
  })

  it('puts the service that the kernel killed before others that are restarted beside it', () => {
    const restarted = (service: number, strength: number) => ({ service, strength, nature: 'cause' as const, isErrors: true })
    expect(ranked([restarted(orders, 4), restarted(payments, 3), { ...restarted(payments, 2.5), isKill: true }])).to.deep.equal([
      'payments',
      'orders',
    ])
  })

  it('takes new lines that are errors for these: a database may speak in requests by its errors alone', () => {
    const told = ranked(
      [
        { service: payments, strength: 5, nature: 'change', statement: 0 },
        { service: payments, strength: 3, nature: 'cause', isErrors: true, isOwnWords: true },
        { service: orders, strength: 8, nature: 'remote', isErrors: true },
      ],
      [],
      system,
      new Set([system.kinds[0]!]),
    )
    expect(told).to.deep.equal(['payments', 'orders'])
  })

  it('takes the reason that a service tells itself before that its lines break off', () => {
    const starting = (strength: number) => [
      { service: payments, strength: 4, nature: 'broken' as const },
      { service: payments, strength, nature: 'cause' as const, isErrors: true, isOwnWords: true },
    ]
    const calling = { service: orders, strength: 7, nature: 'fault' as const, isErrors: true, isOwnWords: true }
    expect(ranked([calling, ...starting(3)])).to.deep.equal(['payments', 'orders'])
    expect(ranked([calling, ...starting(1)])).to.deep.equal(['orders', 'payments'])
  })

  it('takes the platform’s reason for a service before the complaints of its callers', () => {
    const blamed = { service: gateway, strength: 10, nature: 'fault' as const, isErrors: true }
    const why = { service: gateway, strength: 3, nature: 'cause' as const, isErrors: true }
    const other = { service: payments, strength: 4, nature: 'cause' as const, isErrors: true }
    expect(ranked([blamed, why, other])[0]).to.equal('gateway')
    expect(ranked([blamed, other])[0]).to.equal('payments')
  })
})
