import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type ApiAnswer, NO_ANSWER } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { CONFIG_MAPS, configMap } from '../../dataplane/kube/testing/resources.ts'
import { createFakeClock } from '../../dataplane/testing/fake-clock.ts'
import { createConcurrencyLimit, FIRST_LIMIT } from './concurrency-limit.ts'

const OBJECT = configMap('a')
const OK: ApiAnswer<KubernetesObject> = { ok: true, value: OBJECT }
const TIMEOUT: ApiAnswer<KubernetesObject> = {
  ok: false,
  failure: { status: 0, reason: NO_ANSWER.timeout, message: 'no answer within 30 s' },
}

function create(hasRoom = true) {
  const clock = createFakeClock()
  const limit = createConcurrencyLimit({ clock, rateLimit: { hasRoom: () => hasRoom } })
  const sent: ((answer: ApiAnswer<KubernetesObject>) => void)[] = []
  const answers: ApiAnswer<KubernetesObject>[] = []
  const client = limit.limit({
    replace: () => new Promise(resolve => sent.push(resolve)),
    get: async () => OK,
  } as unknown as KubeClient)
  const turn = () => new Promise(resolve => setImmediate(resolve))
  return {
    clock,
    limit,
    sent,
    answers,
    read: () => client.get(CONFIG_MAPS, { name: 'a' }),
    async ask(count: number) {
      for (let n = 0; n < count; n++) void client.replace(CONFIG_MAPS, OBJECT).then(answer => answers.push(answer))
      await turn()
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100)
        await turn()
      }
    },
    /** The first that were sent. */
    async answer(count: number, answer = OK) {
      for (const resolve of sent.splice(0, count)) resolve(answer)
      await turn()
    },
  }
}

describe('Concurrency limit', () => {
  it('has as many requests under way as there are places, and the others in turn', async () => {
    const { ask, sent, answer, answers, limit } = create()
    await ask(FIRST_LIMIT + 2)
    expect(sent).to.have.length(FIRST_LIMIT)
    expect(limit.hasRoom()).to.equal(false)
    await answer(1)
    expect(sent).to.have.length(FIRST_LIMIT)
    await answer(FIRST_LIMIT)
    await answer(1)
    expect(answers).to.have.length(FIRST_LIMIT + 2)
    expect(limit.hasRoom()).to.equal(true)
  })

  it('gives the places of requests that hang to others, as soon as a later one has been answered', async () => {
    const { ask, sent, pass, limit } = create()
    await ask(3 * FIRST_LIMIT)
    await pass(900)
    limit.noteAnswer(200, 5)
    await pass(400)
    expect(sent).to.have.length(2 * FIRST_LIMIT)
    limit.noteAnswer(409, 5)
    await pass(1400)
    expect(sent).to.have.length(3 * FIRST_LIMIT)
  })

  it('keeps their places where later ones take nearly as long', async () => {
    const { ask, sent, pass, limit } = create()
    await ask(10 * FIRST_LIMIT)
    for (const ms of [2900, 2500, 2500]) {
      await pass(ms)
      limit.noteAnswer(200, 2500)
    }
    expect(sent.length).to.be.below(FIRST_LIMIT + 4)
  })

  it('keeps their places where reads alone are answered: writes may wait for the disk of the store', async () => {
    const { ask, sent, pass, read } = create()
    await ask(FIRST_LIMIT - 1)
    for (let second = 0; second < 20; second++) {
      await pass(1000)
      await read()
    }
    await ask(10)
    expect(sent).to.have.length(FIRST_LIMIT)
  })

  it('makes but a few more where nobody is answered', async () => {
    const { ask, sent, pass, limit } = create()
    await ask(10 * FIRST_LIMIT)
    await pass(120_000)
    expect(sent).to.have.length(2 * FIRST_LIMIT)
    for (const status of [0, 429, 500]) limit.noteAnswer(status, 5)
    await pass(1000)
    expect(sent).to.have.length(2 * FIRST_LIMIT)
  })

  it('makes fewer while answers take too long, and more while they come in time', async () => {
    const { ask, sent, pass, answer } = create()
    const underWay = async (ms: number, rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        await pass(ms)
        await answer(sent.length)
      }
      return sent.length
    }
    await ask(10_000)
    expect(await underWay(900, 20), 'in time').to.be.within(FIRST_LIMIT + 10, 64)
    expect(await underWay(900, 60), 'in time, for long').to.equal(64)
    expect(await underWay(5000, 20), 'too long').to.be.within(4, 8)
  })

  it('makes no more while it is the rate limit that they wait for', async () => {
    const { ask, sent, pass, answer } = create(false)
    await ask(1000)
    for (let round = 0; round < 20; round++) {
      await pass(900)
      await answer(sent.length)
    }
    expect(sent).to.have.length(FIRST_LIMIT)
  })

  it('says of a failure whether the request hung: not where nobody was answered', async () => {
    const { ask, pass, answer, answers, limit } = create()
    await ask(1)
    await pass(30_000)
    await answer(1, TIMEOUT)
    await ask(1)
    await pass(20_000)
    limit.noteAnswer(201, 5)
    await pass(10_000)
    await answer(1, TIMEOUT)
    expect(answers.map(each => !each.ok && each.failure.isHang)).to.deep.equal([undefined, true])
  })
})
