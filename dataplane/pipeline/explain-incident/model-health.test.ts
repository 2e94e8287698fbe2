import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type LlmConfig, ModelUnavailable } from '../../ports/language-model.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createModelHealth } from './model-health.ts'

const CONFIG: LlmConfig = { provider: 'openai', model: 'm', apiKey: 'k' }
const DOWN = new ModelUnavailable('openai answered 503', { isPassing: true })
const REFUSED = new ModelUnavailable('openai answered 401', { isPassing: false })

function create({ openMs = 60_000 } = {}) {
  const clock = createFakeClock()
  const probes = { count: 0, error: undefined as ModelUnavailable | undefined }
  const health = createModelHealth({
    async probe() {
      probes.count++
      if (probes.error !== undefined) throw probes.error
    },
    nowMs: () => clock.nowMs(),
    openMs,
  })
  const fail = (error: Error = DOWN) => health.use(CONFIG, () => Promise.reject(error)).catch(reason => reason as Error)
  return { clock, probes, health, fail }
}

describe('how a model does', () => {
  it('asks nobody for ten seconds after a result, then by what costs nothing', async () => {
    const { clock, probes, health } = create()
    await health.use(CONFIG, async () => 'answer')
    for (let i = 0; i < 10; i++) expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
    expect(probes.count).to.equal(0)
    clock.advance(10_000)
    await Promise.all([1, 2, 3].map(() => health.current(CONFIG)))
    expect(probes.count).to.equal(1)
  })

  it('a failure that passes is over when the provider is there again', async () => {
    const { clock, probes, health, fail } = create()
    await fail()
    expect(await health.current(CONFIG)).to.deep.equal({ ok: false, error: 'openai answered 503', isLasting: false })
    clock.advance(10_000)
    expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
    clock.advance(10_000)
    probes.error = DOWN
    expect(await health.current(CONFIG)).to.include({ ok: false })
  })

  it('a failure that lasts is over with a good answer, or with another configuration', async () => {
    const { clock, health, fail } = create()
    await fail(REFUSED)
    clock.advance(3_600_000)
    expect(await health.current(CONFIG)).to.include({ ok: false, error: 'openai answered 401' })
    expect(await health.current({ ...CONFIG, apiKey: 'new' })).to.deep.equal({ ok: true })
    await health.use(CONFIG, async () => 'answer')
    expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
  })

  it('after three failures nothing is asked for a minute, and that is no good state even where the provider is there', async () => {
    const { clock, health, fail } = create()
    for (let i = 0; i < 3; i++) await fail()
    expect((await fail()).message).to.equal('not asked: the last 3 questions failed')
    clock.advance(30_000)
    expect(await health.current(CONFIG)).to.include({ ok: false, error: 'openai answered 503' })
    clock.advance(30_000)
    expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
  })

  it('one question then shows whether it is back', async () => {
    const { health, fail } = create({ openMs: 0 })
    for (let i = 0; i < 3; i++) await fail()
    expect(await health.use(CONFIG, async () => 'answer')).to.equal('answer')
  })

  it('a good test closes the breaker', async () => {
    const { health, fail } = create()
    for (let i = 0; i < 3; i++) await fail()
    health.note(CONFIG, { ok: true })
    expect(await health.use(CONFIG, async () => 'answer')).to.equal('answer')
    expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
  })

  it('errors that are no model’s are passed on and count for nothing', async () => {
    const { health, fail } = create()
    for (let i = 0; i < 5; i++) expect((await fail(new Error('out of budget'))).message).to.equal('out of budget')
    expect(await health.current(CONFIG)).to.deep.equal({ ok: true })
  })
})
