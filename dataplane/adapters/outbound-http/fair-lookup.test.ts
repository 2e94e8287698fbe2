import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { TargetUnreachable } from '../../ports/outbound-http.ts'
import { createFairLookup, type Lookup } from './fair-lookup.ts'

const FOUND = [{ address: '192.0.2.1', family: 4 }]

describe('look-ups of names', () => {
  let nowMs: number
  /** Names that are being looked up, with the end of each. */
  let underWay: Map<string, { answer(): void; fail(): void }>
  let fair: Lookup
  /** Names whose callers have an answer. */
  let answered: string[]

  beforeEach(() => {
    nowMs = 0
    underWay = new Map()
    answered = []
    fair = createFairLookup(
      host =>
        new Promise((resolve, reject) => {
          const end = (settle: () => void) => {
            underWay.delete(host)
            settle()
          }
          underWay.set(host, { answer: () => end(() => resolve(FOUND)), fail: () => end(() => reject(new Error('EAI_AGAIN'))) })
        }),
      () => nowMs,
    )
  })

  const settled = () => new Promise<void>(done => setImmediate(done))
  const ask = (...hosts: readonly string[]) => {
    for (const host of hosts)
      fair(host).then(
        () => answered.push(host),
        () => answered.push(`no ${host}`),
      )
    return settled()
  }
  const endAfter = async (ms: number, host: string, how: 'answer' | 'fail' = 'answer') => {
    nowMs += ms
    underWay.get(host)![how]()
    await settled()
  }
  const names = () => [...underWay.keys()]

  it('a name that was quick before waits for none that is slow', async () => {
    await ask('good.example')
    await endAfter(10, 'good.example')
    await ask('slow1.example', 'slow2.example', 'slow3.example', 'good.example')
    expect(names()).to.have.members(['slow1.example', 'good.example'])
    await endAfter(10, 'good.example')
    expect(answered).to.deep.equal(['good.example', 'good.example'])
  })

  it('a name that is new comes before those that were slow, and these come in turn', async () => {
    await ask('slow1.example', 'slow2.example')
    await endAfter(10_000, 'slow1.example', 'fail')
    await endAfter(10_000, 'slow2.example', 'fail')
    await ask('slow1.example', 'slow2.example', 'new.example')
    expect(names()).to.deep.equal(['slow1.example'])
    await endAfter(10_000, 'slow1.example')
    expect(names()).to.deep.equal(['new.example'])
    await endAfter(10, 'new.example')
    expect(names()).to.deep.equal(['slow2.example'])
    await endAfter(10, 'slow2.example')
    await ask('slow2.example', 'slow1.example', 'new.example')
    expect(names(), 'quick by now').to.have.members(['slow2.example', 'slow1.example', 'new.example'])
  })

  it('a name that is being looked up is not looked up beside that', async () => {
    await ask('a.example', 'a.example', 'b.example', 'b.example')
    await endAfter(10, 'a.example')
    await endAfter(10, 'b.example', 'fail')
    expect(names()).to.deep.equal([])
    expect(answered).to.deep.equal(['a.example', 'a.example', 'no b.example', 'no b.example'])
  })

  it('so many may wait, and further ones are told at once', async () => {
    const outcomes = Array.from({ length: 1_001 }, (_, n) => fair(`${n}.example`))
    for (const outcome of outcomes.slice(0, -1)) outcome.catch(() => undefined)
    const error = await outcomes.at(-1)!.then(
      () => undefined,
      (caught: unknown) => caught,
    )
    expect(error).to.be.instanceOf(TargetUnreachable).with.property('wasSent', false)
  })
})
