import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TENANT_HEADER } from '../../contract/headers.ts'
import { createControlApp } from '../../http/control-app.ts'
import { startHttpServer } from '../../http/server.ts'
import { collectDeadLetters } from '../../pipeline/dead-letters/dead-letter.ts'
import type { Bus, BusRecord, ConsumedRecord } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { deadLetterRoutes } from './dead-letter-routes.ts'

const QUEUE = 'dead-letter-queue'

/** A bus whose dead-letter queue holds what was sent there. */
function createQueue() {
  const sent: { readonly topic: string; readonly record: BusRecord }[] = []
  const lying = () => sent.filter(({ topic }) => topic === QUEUE).map(({ record }) => record)
  const bus: Pick<Bus, 'describe' | 'subscribe' | 'send'> = {
    describe: async () => ({ brokers: 1, partitions: [{ topic: QUEUE, partition: 0, startOffset: 0, endOffset: lying().length }] }),
    async subscribe() {
      const records = lying().map(
        (record, offset) => ({ headers: {}, ...record, topic: QUEUE, partition: 0, offset, timestampMs: 0 }) as ConsumedRecord,
      )
      return { poll: async () => records.splice(0), assignment: () => [0], close: async () => undefined } as never
    },
    async send(topic, records) {
      sent.push(...records.map(record => ({ topic, record })))
    },
  }
  return {
    bus,
    sentTo: (topic: string) => sent.filter(each => each.topic === topic).map(({ record }) => Buffer.from(record.value!).toString()),
  }
}

describe('dead letters of the agent', () => {
  const serve = async () => {
    const queue = createQueue()
    const clock = createFakeClock()
    const letters = collectDeadLetters({ bus: queue.bus, topic: QUEUE, stage: 'etl', clock, log: SILENT })
    for (const [offset, text] of ['one', 'two'].entries())
      letters.add(
        { topic: 'raw-logs', partition: 0, offset, timestampMs: 7, key: 'shop/cart', value: Buffer.from(text), headers: {} },
        'broken',
      )
    await letters.send()
    const routes = deadLetterRoutes({ bus: async () => queue.bus, topic: QUEUE, origins: new Set(['raw-logs']), clock, log: SILENT })
    const app = createControlApp({ routes, log: SILENT, metrics: createMetrics() })
    const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, setting: 'PORT' })
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } })
    return { ...queue, ask, post, stop: () => server.stop(0) }
  }

  it('are listed with reason and origin, without their contents', async () => {
    const { ask, stop } = await serve()
    const { body } = await ask('/dead-letters?limit=1')
    const [letter] = body['letters'] as readonly Record<string, unknown>[]
    expect(letter).to.include({ id: '0/0', stage: 'etl', reason: 'broken', topic: 'raw-logs', tenant: 'shop', service: 'cart', bytes: 3 })
    expect(JSON.stringify(body)).to.not.contain('one')
    expect((await ask('/dead-letters?limit=501')).status).to.equal(400)
    const strange = await ask('/dead-letters?stage=typo')
    expect(strange.status).to.equal(400)
    expect(JSON.stringify(strange.body)).to.contain('stage').and.contain('lifecycle')
    await stop()
  })

  it('are replayed to where they came from, those of one step where it is named', async () => {
    const { post, sentTo, stop } = await serve()
    expect((await post('/dead-letters/replay', { stage: 'indexer' })).body).to.deep.include({ status: 'ok', sent: {} })
    expect((await post('/dead-letters/replay', {})).body).to.deep.include({ sent: { 'raw-logs': 2 }, repeated: 0 })
    expect(sentTo('raw-logs')).to.deep.equal(['one', 'two'])
    expect((await post('/dead-letters/replay', { step: 'etl' })).status).to.equal(400)
    await stop()
  })

  it('are for nobody who speaks for one tenant', async () => {
    const { ask, post, stop } = await serve()
    const headers = { [TENANT_HEADER]: 'shop' }
    expect((await ask('/dead-letters', { headers })).status).to.equal(403)
    expect((await post('/dead-letters/replay', {}, headers)).status).to.equal(403)
    await stop()
  })
})
