import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../../dataplane/testing/fake-clock.ts'
import type { Pod } from '../observed/foreign-kinds.ts'
import { type BridgeHealthSource, createBridgeHealth } from './bridge-health.ts'

const START_MS = Date.parse('2026-01-01T00:01:00Z')
/** As of a minute before. */
const bridge = (ready: 'True' | 'False', more: object = {}, component = 'bridge', sinceMs = START_MS - 60_000): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `shop-${component}-1`, namespace: 'shop', labels: { 'app.kubernetes.io/component': component } },
  status: {
    phase: 'Running',
    podIP: '10.0.0.7',
    conditions: [{ type: 'Ready', status: ready, lastTransitionTime: new Date(sinceMs).toISOString() }],
    ...more,
  },
})

describe('What a pod lacks', () => {
  let clock: FakeClock
  let asked: string[]
  let looks: string[]
  let answer: () => Promise<string>
  let health: BridgeHealthSource
  beforeEach(() => {
    clock = createFakeClock(START_MS)
    asked = []
    looks = []
    answer = async () => JSON.stringify({ status: 'error', bus: 'connected', search: 'disconnected' })
    health = createBridgeHealth({
      clock,
      get: url => {
        asked.push(url)
        return answer()
      },
      lookAgain: (key, afterMs) => void looks.push(`${key} ${afterMs}`),
    })
  })
  const settle = () => new Promise(setImmediate)

  it('is asked of it while it is not ready, and told at the next look', async () => {
    expect(health.look('shop/shop', [bridge('False')])).to.equal(undefined)
    await settle()
    expect(asked).to.deep.equal(['http://10.0.0.7:8080/health'])
    expect(looks).to.deep.equal(['shop/shop 0'])
    const expected = { component: 'bridge', bus: 'connected', search: 'disconnected' }
    expect(health.look('shop/shop', [bridge('False')])).to.deep.equal(expected)
  })

  it('is told by a bridge that knows of the bus alone, as it never got it', async () => {
    answer = async () => JSON.stringify({ status: 'starting', bus: 'disconnected' })
    health.look('shop/shop', [bridge('False')])
    await settle()
    expect(health.look('shop/shop', [bridge('False')])).to.deep.equal({ component: 'bridge', bus: 'disconnected' })
  })

  it('is asked of the collector where no bridge can tell', async () => {
    const collector = bridge('False', { podIP: '10.0.0.8' }, 'collector')
    answer = async () => {
      if (asked.length === 1) throw new Error('refused')
      return JSON.stringify({ status: 'Server not available', uptime: '1m' })
    }
    for (const pods of [
      [collector, bridge('False')],
      [bridge('True'), collector],
    ]) {
      asked = pods[0] === collector ? [] : ['']
      health.look('shop/shop', pods)
      await settle()
      expect(asked.at(-1)).to.equal('http://10.0.0.8:13133/')
      expect(health.look('shop/shop', pods)).to.deep.equal({ component: 'collector', bus: 'disconnected' })
      health.forget('shop/shop')
    }
  })

  it('is asked of stream jobs where neither can tell', async () => {
    health.look('shop/shop', [bridge('True'), bridge('False', {}, 'stream-etl')])
    await settle()
    expect(asked).to.deep.equal(['http://10.0.0.7:9464/health'])
    expect(looks).to.deep.equal(['shop/shop 0'])
  })

  it('is asked again after ten seconds, not sooner', async () => {
    for (const afterMs of [0, 5000, 5000]) {
      clock.advance(afterMs)
      health.look('shop/shop', [bridge('False')])
      await settle()
    }
    expect(asked).to.have.length(2)
    expect(looks).to.deep.equal(['shop/shop 0', 'shop/shop 10000'])
  })

  it('is asked again after ten seconds, also where the time of day was set back meanwhile', async () => {
    const since = START_MS - 2 * 3_600_000
    health.look('shop/shop', [bridge('False', {}, 'bridge', since)])
    await settle()
    clock.shiftTimeOfDay(-3_600_000)
    clock.advance(10_000)
    health.look('shop/shop', [bridge('False', {}, 'bridge', since)])
    expect(asked).to.have.length(2)
  })

  it('is not asked of one that has just started, but looked at when it should be ready', async () => {
    health.look('shop/shop', [bridge('False', {}, 'bridge', START_MS - 5000)])
    await settle()
    expect(asked).to.deep.equal([])
    expect(looks).to.deep.equal(['shop/shop 10000'])
  })

  it('is asked of one whose node has a clock that is ahead, instead of waiting until then', async () => {
    health.look('shop/shop', [bridge('False', {}, 'bridge', START_MS + 3_600_000)])
    await settle()
    expect(asked).to.have.length(1)
  })

  it('is asked of sixteen pipelines at once, of each once, however long it waits for its turn', async () => {
    const answers: (() => void)[] = []
    answer = () => new Promise(resolve => answers.push(() => resolve('{"bus":"disconnected"}')))
    const lookAtAll = () => {
      for (let n = 0; n < 20; n++) health.look(`shop/${n}`, [bridge('False')])
    }
    lookAtAll()
    await settle()
    expect(asked).to.have.length(16)
    clock.advance(60_000)
    lookAtAll()
    health.forget('shop/19')
    while (answers.length > 0) {
      for (const give of answers.splice(0)) give()
      await settle()
    }
    expect(asked, 'none of one that is gone').to.have.length(19)
    expect(health.look('shop/18', [bridge('False')])).to.deep.equal({ component: 'bridge', bus: 'disconnected' })
  })

  it('is asked of a new one that stays unready beside an old one that is ready', async () => {
    health.look('shop/shop', [bridge('True', { podIP: '10.0.0.6' }), bridge('False')])
    expect(asked).to.deep.equal(['http://10.0.0.7:8080/health'])
  })

  it('is not asked where a pod is ready, runs not yet, or does not speak to the bus; what was said is forgotten', async () => {
    health.look('shop/shop', [bridge('False')])
    await settle()
    const groups = [
      [bridge('True')],
      [bridge('False', { phase: 'Pending' })],
      [bridge('False', { podIP: undefined })],
      [bridge('False', {}, 'ticketing')],
      [],
    ]
    for (const pods of groups) expect(health.look('shop/shop', pods)).to.equal(undefined)
    await settle()
    expect(asked).to.have.length(1)
  })

  it('is asked of the pod of mode AllInOne too, and by an IPv6 address', async () => {
    health.look('shop/one', [bridge('False', { podIP: 'fd00::7' }, 'standalone')])
    expect(asked).to.deep.equal(['http://[fd00::7]:8080/health'])
  })

  for (const [title, given] of [
    ['does not answer', () => Promise.reject(new Error('refused'))],
    ['answers something else', async () => '<html>'],
    ['answers other JSON', async () => '{"bus":1,"status":"Server not available"}'],
    ['answers null', async () => 'null'],
  ] as const)
    it(`stays unknown where it ${title}`, async () => {
      answer = given
      health.look('shop/shop', [bridge('False')])
      await settle()
      expect(health.look('shop/shop', [bridge('False')])).to.equal(undefined)
      expect(looks).to.deep.equal(['shop/shop 10000'])
    })

  it('counts no longer when the pipeline is gone before the answer', async () => {
    health.look('shop/shop', [bridge('False')])
    health.forget('shop/shop')
    await settle()
    expect(looks).to.deep.equal([])
  })
})
