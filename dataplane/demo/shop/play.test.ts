import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DemoProblem } from './demo-problem.ts'
import type { Incidents, SeenIncident } from './incidents.ts'
import type { DemoOptions } from './options.ts'
import { MAX_PLAY_MS, playShop } from './play.ts'
import type { ShopRecord } from './services.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const OPTIONS: DemoOptions = {
  fault: 'bad-deploy',
  seed: 1,
  historyMs: 15 * MINUTE,
  isAtOnce: false,
  tenant: 'own',
  logsUrl: '',
  consoleUrl: 'http://console',
}
const INCIDENT: SeenIncident = {
  ...{ id: 'i1', title: 'cart: NullPointerException', severity: 'high', status: 'open', service: 'cart', updatedAt: 'now' },
  rootCause: { summary: 'Most likely cart.', candidates: [{ service: 'cart' }] },
}

interface World {
  /** Incidents of the console's list, by the time. */
  readonly incidents?: (nowMs: number) => readonly SeenIncident[]
  readonly newestRecordMs?: number
  /** Ctrl-C after so long. */
  readonly stopAfterMs?: number
}

/** Plays on a clock that goes on by its sleeps alone. */
async function play(options: Partial<DemoOptions>, { incidents = () => [], newestRecordMs, stopAfterMs }: World = {}) {
  let nowMs = START
  const interrupt = new AbortController()
  const clock = {
    nowMs: () => nowMs,
    async sleep(ms: number) {
      nowMs += ms
      if (stopAfterMs !== undefined && nowMs >= START + stopAfterMs) interrupt.abort()
    },
  }
  const sent: ShopRecord[] = []
  const sentAtMs: number[] = []
  const told: string[] = []
  const console: Incidents = {
    list: async () => incidents(nowMs),
    newestRecordMs: async () => newestRecordMs,
    addressOf: ({ id }) => `http://console/incidents/${id}`,
  }
  const collector = {
    async send(records: readonly ShopRecord[]) {
      sent.push(...records)
      sentAtMs.push(...records.map(() => nowMs))
    },
  }
  const isFound = await playShop(
    { ...OPTIONS, ...options },
    { collector, incidents: console, clock, tell: text => told.push(text), signal: interrupt.signal },
  )
  return { isFound, sent, sentAtMs, told: told.join('\n'), nowMs }
}

describe('logpipeline demo', () => {
  it('sends the history at once, then each record when its time has come, and breaks after five seconds', async () => {
    const { sent, sentAtMs, told } = await play({}, { stopAfterMs: MINUTE })
    expect(sent[0]!.timeMs).to.be.within(START - 15 * MINUTE, START - 14 * MINUTE)
    for (const [at, { timeMs }] of sent.entries()) {
      if (timeMs <= START) expect(sentAtMs[at]).to.equal(START)
      else expect(sentAtMs[at]! - timeMs).to.be.within(0, 1_000)
    }
    expect(sent.find(({ level }) => level === 'ERROR')!.timeMs).to.be.within(START + 5_000, START + 15_000)
    expect(told).to.contain('It breaks now (bad-deploy): version 2.4.0 of the cart')
    expect(told).to.contain(`Stopped after ${sent.length} records.`)
  })

  it('says where the incident is, once, when its cause is known', async () => {
    const { rootCause: _, ...bare } = INCIDENT
    const incidents = (nowMs: number) => (nowMs < START + 20_000 ? [] : nowMs < START + 30_000 ? [bare] : [INCIDENT])
    const { told, isFound } = await play({}, { incidents, stopAfterMs: MINUTE })
    expect(isFound).to.equal(true)
    expect(told.match(/There is an incident/g)).to.have.length(1)
    expect(told).to.match(
      /There is an incident after 2[5-8] s: cart: NullPointerException \(high\)\n {2}Most likely cart\.\n {2}Open http:\/\/console\/incidents\/i1/,
    )
  })

  it('says that incidents are open from before, and tells of those alone that change', async () => {
    const quiet = await play({}, { incidents: () => [INCIDENT], stopAfterMs: MINUTE })
    expect(quiet.told).to.contain('1 incident of the shop is open from before').and.not.to.contain('There is an incident')
    const grown = await play(
      {},
      { incidents: nowMs => [{ ...INCIDENT, updatedAt: nowMs < START + MINUTE / 2 ? 'then' : 'now' }], stopAfterMs: MINUTE },
    )
    expect(grown.told).to.contain('There is an incident after')
  })

  it('goes on where a shop of before stopped', async () => {
    const { sent } = await play({}, { newestRecordMs: START - 2 * MINUTE, stopAfterMs: 1_000 })
    expect(sent[0]!.timeMs).to.be.within(START - 2 * MINUTE, START - 2 * MINUTE + 1_000)
  })

  it('ends by itself after half an hour', async () => {
    const { nowMs, isFound } = await play({})
    expect(nowMs - START).to.be.within(MAX_PLAY_MS, MAX_PLAY_MS + 1_000)
    expect(isFound).to.equal(false)
  })

  describe('--at-once', () => {
    it('sends three minutes of the fault with the history, and ends when its incident is there', async () => {
      const { sent, sentAtMs, told, nowMs, isFound } = await play(
        { isAtOnce: true },
        { incidents: at => (at < START + 10_000 ? [] : [INCIDENT]) },
      )
      expect(isFound).to.equal(true)
      expect(nowMs - START).to.be.within(10_000, 13_000)
      expect(new Set(sentAtMs)).to.deep.equal(new Set([START]))
      expect(sent.find(({ level }) => level === 'ERROR')!.timeMs).to.be.within(START - 3 * MINUTE, START - 2.8 * MINUTE)
      expect(sent.at(-1)!.timeMs).to.be.within(START - 1_000, START)
      expect(told).to.contain('It broke three minutes ago').and.to.contain('Open http://console/incidents/i1')
    })

    it('gives up after five minutes', async () => {
      const { isFound, nowMs } = await play({ isAtOnce: true })
      expect(isFound).to.equal(false)
      expect(nowMs - START).to.be.within(5 * MINUTE, 5 * MINUTE + 1_000)
    })

    it('is refused where a shop of before was heard since then', async () => {
      const error = await play({ isAtOnce: true }, { newestRecordMs: START - MINUTE }).catch((error: unknown) => error)
      expect(error)
        .to.be.instanceOf(DemoProblem)
        .with.property('message')
        .that.contains('a shop was heard here 60 s ago')
        .and.contains('--tenant')
    })
  })
})
