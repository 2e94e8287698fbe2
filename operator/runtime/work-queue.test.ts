import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { eventually } from '../../dataplane/kube/testing/eventually.ts'
import { SILENT } from '../../dataplane/telemetry/log.ts'
import { createFakeClock } from '../../dataplane/testing/fake-clock.ts'
import { createController, HANGING_WORKERS, MAX_STAND_INS, type ReconcileOutcome } from './controller.ts'
import { HANG_MS, WorkQueue } from './work-queue.ts'

const SETTLED = { kind: 'settled' } as const
const FAILED = { kind: 'failed' } as const

function create() {
  const clock = createFakeClock()
  const seen: string[] = []
  const observer = {
    added: () => void seen.push('added'),
    taken: (ms: number) => void seen.push(`taken after ${ms}`),
    ended: (ms: number) => void seen.push(`ended after ${ms}`),
    retried: () => void seen.push('retried'),
  }
  return { clock, seen, queue: new WorkQueue({ clock, random: () => 0, observer }) }
}

describe('Work queue', () => {
  it('keeps a key that failed for as long as the API server asks for, and no longer than the longest back-off', async () => {
    const { clock, queue } = create()
    for (const [afterMs, waitMs] of [
      [500, 1000],
      [20_000, 20_000],
      [9_000_000, 120_000],
    ] as const) {
      queue.add('a')
      queue.done((await queue.take())!, { kind: 'failed', afterMs })
      clock.advance(waitMs - 1)
      expect(queue.depth, `${afterMs}`).to.equal(0)
      clock.advance(1)
      await eventually('its turn', () => queue.depth === 1)
      await queue.take()
      queue.done('a', SETTLED)
    }
  })

  it('holds each key once, in the order of arrival', async () => {
    const { queue } = create()
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
    expect(queue.depth).to.equal(3)
    expect([await queue.take(), await queue.take(), await queue.take()]).to.deep.equal(['a', 'b', 'c'])
  })

  it('brings what is under way before anything new, and something new now and then', async () => {
    const { queue } = create()
    for (const key of ['a', 'b']) queue.add(key)
    for (const key of ['a', 'b']) {
      await queue.take()
      queue.done(key, { kind: 'settled', isUnderWay: true })
    }
    for (const key of ['x', 'y', 'a', 'b']) queue.add(key)
    expect(queue.depth).to.equal(4)
    expect([await queue.take(), await queue.take()], 'the fourth turn is that of the others').to.deep.equal(['a', 'x'])
    queue.done('a', SETTLED)
    queue.add('a')
    expect([await queue.take(), await queue.take(), await queue.take()], 'a is settled').to.deep.equal(['b', 'y', 'a'])
  })

  it('never hands out a key that is at work, and brings it again when it was asked for meanwhile', async () => {
    const { queue } = create()
    queue.add('a')
    await queue.take()
    queue.add('a')
    queue.add('a')
    expect(queue.depth).to.equal(0)
    queue.done('a', SETTLED)
    expect(queue.depth).to.equal(1)
    expect(await queue.take()).to.equal('a')
    queue.done('a', SETTLED)
    expect(queue.depth).to.equal(0)
  })

  it('backs off by key from 1 s to 2 min, and forgets at the first success', async () => {
    const { queue, clock } = create()
    queue.add('bad')
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 120, 120]) {
      expect(await queue.take()).to.equal('bad')
      queue.done('bad', FAILED)
      queue.add('good')
      expect(await queue.take(), 'another key is not held up').to.equal('good')
      queue.done('good', SETTLED)
      clock.advance(seconds * 1000 - 1)
      await Promise.resolve()
      expect(queue.depth).to.equal(0)
      clock.advance(1)
      await eventually('it is due', () => queue.depth === 1)
    }
    expect(queue.failures('bad')).to.equal(9)
    await queue.take()
    queue.done('bad', SETTLED)
    expect(queue.failures('bad')).to.equal(0)
  })

  it('of several delays keeps the soonest, and none when it is asked for now', async () => {
    const { queue, clock } = create()
    queue.addAfter('a', 5000)
    queue.addAfter('a', 1000)
    queue.addAfter('a', 9000)
    expect(clock.sleepers).to.equal(1)
    clock.advance(1000)
    await eventually('it is due', () => queue.depth === 1)
    await queue.take()
    queue.done('a', { kind: 'again', afterMs: 7000 })
    queue.add('a')
    expect(clock.sleepers).to.equal(0)
    expect(queue.depth).to.equal(1)
  })

  it('keeps keys that hung twice in a row in a line apart, until their work no longer hangs', async () => {
    const { queue, clock } = create()
    const hang = (key: string) => {
      clock.advance(HANG_MS)
      queue.done(key, { ...FAILED, isHang: true })
    }
    for (const times of [1, 2]) {
      queue.add('bad')
      expect(await queue.take(), `${times}`).to.equal('bad')
      hang('bad')
    }
    queue.add('bad')
    expect(queue.depth).to.equal(1)
    queue.add('good')
    expect(await queue.take()).to.equal('good')
    expect(await queue.take('hanging')).to.equal('bad')
    hang('bad')
    const waiting = queue.take('hanging')
    queue.add('bad')
    expect(await waiting).to.equal('bad')
    queue.done('bad', SETTLED)
    queue.add('bad')
    expect(await queue.take()).to.equal('bad')
    queue.done('bad', FAILED)
    queue.add('bad')
    expect(await queue.take(), 'it failed at once').to.equal('bad')
  })

  it('tells what metrics need', async () => {
    const { queue, clock, seen } = create()
    queue.add('a')
    clock.advance(10)
    await queue.take()
    clock.advance(20)
    clock.shiftTimeOfDay(3_600_000)
    expect(queue.workedMs()).to.deep.equal([20])
    queue.done('a', FAILED)
    expect(seen).to.deep.equal(['added', 'taken after 10', 'ended after 20', 'retried'])
  })

  it('once stopped hands out nothing and takes nothing', async () => {
    const { queue, clock } = create()
    const waiting = queue.take()
    queue.addAfter('a', 1000)
    queue.stop()
    expect(await waiting).to.equal(undefined)
    queue.add('b')
    expect(await queue.take()).to.equal(undefined)
    expect(clock.sleepers).to.equal(0)
  })

  it('reconciles nothing twice at a time and nothing never, whatever comes (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('settled', 'failed')), { maxLength: 30 }),
        async steps => {
          const { queue, clock } = create()
          const working = new Set<string>()
          const lastAdd = new Map<string, number>()
          const lastRun = new Map<string, number>()
          let turn = 0
          const worker = async () => {
            for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
              expect(working.has(key)).to.equal(false)
              working.add(key)
              lastRun.set(key, ++turn)
              await Promise.resolve()
              working.delete(key)
              queue.done(key, turn % 3 === 0 ? FAILED : SETTLED)
            }
          }
          const workers = [worker(), worker()]
          for (const [key] of steps) {
            lastAdd.set(key, ++turn)
            queue.add(key)
            if (turn % 2 === 0) await Promise.resolve()
          }
          for (let n = 0; n < 20; n++) {
            clock.advance(120_000)
            await new Promise(resolve => setImmediate(resolve))
          }
          queue.stop()
          await Promise.all(workers)
          for (const [key, added] of lastAdd) expect(lastRun.get(key)).to.be.above(added)
        },
      ),
      { numRuns: 50, seed: 7 },
    )
  })
})

describe('Controller', () => {
  const start = (reconcile: (key: string) => Promise<ReconcileOutcome>, hasRoom = () => true) => {
    const { queue, clock } = create()
    const results: string[] = []
    const lines: string[] = []
    const warn = (_fields: object, message: string) => void lines.push(message)
    const log = { ...SILENT, child: () => ({ ...SILENT, warn, info: warn }) }
    const controller = createController(
      { name: 'pipelines', workers: 2, reconcile },
      { queue, clock, log, hasRoom, onReconcile: result => void results.push(result) },
    )
    controller.start()
    return { queue, clock, controller, results, lines }
  }

  it('counts what throws as a failure, tries again, and tells of the same failure once', async () => {
    let runs = 0
    const { queue, clock, controller, results, lines } = start(async () => {
      runs += 1
      if (runs < 3) throw new Error('no luck')
      return SETTLED
    })
    queue.add('a')
    for (const ms of [1000, 2000]) {
      await eventually('it waits', () => clock.sleepers === 1)
      clock.advance(ms)
    }
    await eventually('it works', () => results.length === 3)
    expect(results).to.deep.equal(['error', 'error', 'success'])
    expect(lines).to.deep.equal(['reconcile failed, trying again: no luck', 'reconcile works again'])
    await controller.stop()
  })

  it('lets the work under way end when it stops', async () => {
    const held = Promise.withResolvers<void>()
    let ended = false
    const { queue, controller } = start(async () => {
      await held.promise
      ended = true
      return SETTLED
    })
    queue.add('a')
    await Promise.resolve()
    const stopped = controller.stop()
    held.resolve()
    await stopped
    expect(ended).to.equal(true)
  })

  it('lets a slow key slow no other', async () => {
    const done: string[] = []
    const { queue, controller } = start(async key => {
      if (key === 'slow') await new Promise(() => {})
      done.push(key)
      return SETTLED
    })
    for (const key of ['slow', 'a', 'b', 'c']) queue.add(key)
    await eventually('the others', () => done.length === 3)
    expect(done).to.deep.equal(['a', 'b', 'c'])
    void controller.stop()
  })

  it('has another worker stand in for one whose key hangs, while requests could be made, and for so many at once', async () => {
    const heal = Promise.withResolvers<void>()
    const done: string[] = []
    let hasRoom = false
    const { queue, clock, controller } = start(
      async key => {
        if (key.startsWith('hangs')) await heal.promise
        done.push(key)
        return SETTLED
      },
      () => hasRoom,
    )
    const seconds = async (count: number) => {
      for (let n = 0; n < count; n++) {
        clock.advance(1000)
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const hanging = MAX_STAND_INS + 2
    for (let n = 0; n < hanging; n++) queue.add(`hangs-${n}`)
    queue.add('good')
    await seconds(3)
    expect(queue.workedMs(), 'all requests wait for their turn').to.have.length(2)
    hasRoom = true
    await seconds(MAX_STAND_INS)
    expect(queue.workedMs()).to.have.length(hanging)
    expect(done, 'no more stand in').to.deep.equal([])
    heal.resolve()
    await eventually('all', () => done.length === hanging + 1)
    queue.add('later')
    await eventually('the workers there were at first', () => done.includes('later'))
    await controller.stop()
    expect(clock.sleepers).to.equal(0)
  })

  it('has workers apart for keys that hang time and again, which nobody stands in for', async () => {
    let isStopped = false
    const working = new Set<string>()
    const { queue, clock, controller } = start(async key => {
      if (!key.startsWith('hangs')) return SETTLED
      working.add(key)
      await clock.sleep(HANG_MS)
      working.delete(key)
      return isStopped ? SETTLED : { kind: 'failed', message: 'no answer', isHang: true }
    })
    const keys = Array.from({ length: 3 * HANGING_WORKERS }, (_, n) => `hangs-${n}`)
    for (const key of keys) queue.add(key)
    let most = 0
    for (let n = 0; n < 600; n++) {
      clock.advance(1000)
      await new Promise(resolve => setImmediate(resolve))
      if (n > 60) most = Math.max(most, working.size)
    }
    expect(most).to.equal(HANGING_WORKERS)
    isStopped = true
    const stopped = controller.stop()
    clock.advance(HANG_MS)
    await stopped
  })
})
