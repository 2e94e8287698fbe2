import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { HttpServer } from '../../http/server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { startTicketing } from './ticketing.ts'

const NOW = '2026-01-01T12:00:00.000Z'

describe('POST /api/v1/analyze', () => {
  let embedded: EmbeddedSearchStore
  let server: HttpServer
  let api: HttpCaller
  before(async function () {
    this.timeout(20_000)
    embedded = await startEmbeddedSearchStore()
    const clock = createFakeClock(Date.parse(NOW))
    server = await startTicketing({ store: embedded.store, clock, log: SILENT, host: '127.0.0.1', port: 0 })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  after(async () => {
    await server.stop()
    await embedded.stop()
  })
  const ask = (body: unknown, tenant?: string) => api.send('POST', '/api/v1/analyze', body, tenant)

  it('answers 200 with no candidates, and says so, where the window is empty', async () => {
    const { status, body } = await ask({ at: '2026-01-01T11:00:00Z' })
    expect(status).to.equal(200)
    expect(body).to.deep.equal({
      at: '2026-01-01T11:00:00.000Z',
      window: { from: '2026-01-01T11:00:00.000Z', to: '2026-01-01T11:03:00.000Z' },
      baseline: { from: '2025-12-31T11:00:00.000Z', to: '2026-01-01T11:00:00.000Z' },
      rootCause: {
        mode: 'rules',
        fallback: false,
        summary: 'No records in the window: there is nothing to compare with the time before.',
        candidates: [],
      },
    })
    expect((await ask({ at: NOW, services: ['orders'] }, 'acme')).body.window).to.deep.equal({ from: NOW, to: NOW })
  })

  const refused: readonly [string, unknown, RegExp][] = [
    ['a time in the future', { at: '2026-01-01T12:00:00.001Z' }, /^at: expected a time that is past/],
    ['what is no time', { at: 'yesterday' }, /^at: .*ISO-8601/],
    ['a number', { at: 17 }, /^at: /],
    ['a missing time', {}, /^at: /],
    ['no body', undefined, /body/],
    ['unknown fields', { at: NOW, until: NOW }, /until/],
    ['services that are no list of names', { at: NOW, services: 'orders' }, /^services: /],
    ['an empty name', { at: NOW, services: [''] }, /^services/],
  ]
  for (const [title, body, message] of refused)
    it(`refuses ${title} with 400`, async () => {
      const answer = await ask(body)
      expect(answer.status).to.equal(400)
      expect(answer.body.error).to.match(message)
    })

  it('refuses a tenant that is none with 400', async () => expect((await ask({ at: NOW }, 'No Tenant')).status).to.equal(400))
})
