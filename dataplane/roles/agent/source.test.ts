import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createSource } from './source.ts'

const settle = () => new Promise(resolve => setImmediate(resolve))

describe("a source of the agent's", () => {
  let clock: FakeClock
  let answers: ((value: number | Error) => void)[]
  let source: ReturnType<typeof createSource<number>>
  const read = () =>
    new Promise<number>((resolve, reject) => answers.push(value => (value instanceof Error ? reject(value) : resolve(value))))

  beforeEach(() => {
    clock = createFakeClock()
    answers = []
    source = createSource({ name: 'test', read, clock, log: SILENT })
  })

  const observeAnswered = async (value: number | Error) => {
    const observed = source.observe()
    await settle()
    answers.pop()!(value)
    return await observed
  }

  it('is unknown before it was asked', () => {
    expect(source.last()).to.deep.equal({ state: 'unknown', value: undefined, ageMs: undefined })
  })

  it('answers with its value of this moment', async () => {
    expect(await observeAnswered(7)).to.deep.equal({ state: 'current', value: 7, ageMs: 0 })
  })

  it('is asked once by all who want to know within a second', async () => {
    const all = [source.observe(), source.observe()]
    await settle()
    expect(answers).to.have.length(1)
    answers[0]!(7)
    await Promise.all(all)
    clock.advance(999)
    expect(await source.observe()).to.include({ value: 7, ageMs: 999 })
    expect(answers).to.have.length(1)
  })

  it('that hangs is waited for two seconds; then the last state is shown with its age', async () => {
    await observeAnswered(7)
    clock.advance(12_000)
    const observed = source.observe()
    await settle()
    clock.advance(2_000)
    expect(await observed).to.deep.equal({ state: 'stale', value: 7, ageMs: 14_000 })
  })

  it('that hangs for five seconds is unreachable, and is asked again', async () => {
    await observeAnswered(7)
    clock.advance(10_000)
    const observed = source.observe()
    await settle()
    clock.advance(5_000)
    await observed
    await settle()
    expect(source.last()).to.deep.equal({ state: 'unreachable', value: 7, ageMs: 15_000 })
    expect(await observeAnswered(8)).to.deep.equal({ state: 'current', value: 8, ageMs: 0 })
  })

  it('that never answers is not asked without end', async () => {
    for (let attempt = 0; attempt < 6; attempt++) {
      const observed = source.observe()
      await settle()
      clock.advance(5_000)
      await observed
      await settle()
    }
    expect(answers).to.have.length(3)
    expect(source.last().state).to.equal('unreachable')
  })

  it('that fails is unreachable, with the last value', async () => {
    await observeAnswered(7)
    clock.advance(3_000)
    expect(await observeAnswered(new Error('gone'))).to.deep.equal({ state: 'unreachable', value: 7, ageMs: 3_000 })
  })

  it('is kept fresh in the background, and stopped in the middle of an attempt', async () => {
    source.start()
    await settle()
    answers.pop()!(1)
    await settle()
    clock.advance(30_000)
    await settle()
    expect(answers).to.have.length(1)
    await source.stop()
    expect(clock.sleepers).to.equal(0)
  })
})
