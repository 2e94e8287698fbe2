import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { HttpServer } from '../../http/server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createMemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { startFeatures } from './features.ts'

interface Exchange {
  readonly name: string
  readonly path: string
  readonly request: unknown
  readonly status: number
  readonly response: unknown
}

const RECORDING = new URL('./testing/feast-0.67.0.json', import.meta.url)
const { exchanges } = JSON.parse(readFileSync(RECORDING, 'utf8')) as { readonly exchanges: readonly Exchange[] }

/** Requests that Feast refuses and we take: a push may leave columns out, a feature stand without its view, `created` be null (README.md here). */
const TAKEN = new Set(['push without timestamp', 'push without created', 'push without a feature', 'no colon', 'write-to-online-store'])
/** Operations whose results differ. */
const AFTER = new Set(['get after'])

interface Answer {
  readonly results: readonly unknown[]
  readonly metadata: { readonly feature_names: readonly string[] }
}

/** Columns by name: Feast puts the features of an answer in no particular order. */
function columns({ results, metadata }: Answer) {
  expect(results).to.have.length(metadata.feature_names.length)
  return { ...metadata, feature_names: undefined, ...Object.fromEntries(metadata.feature_names.map((name, i) => [name, results[i]])) }
}

describe('answers as the Feast feature server recorded them', () => {
  let server: HttpServer
  before(async () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 21, 17))
    server = await startFeatures({ store: createMemoryOnlineStore(), clock, log: SILENT, host: '127.0.0.1', port: 0 })
  })
  after(() => server.stop())

  for (const { name, path, request, status, response } of exchanges)
    it(name, async () => {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      const text = await answer.text()
      if (status !== 200 && !TAKEN.has(name)) {
        expect(answer.status, text).to.be.within(400, 499)
        expect(JSON.parse(text)).to.have.all.keys('error', 'status')
        return
      }
      expect(answer.status, text).to.equal(200)
      if (path === '/push') expect(text).to.equal('')
      else if (path === '/get-online-features' && !AFTER.has(name) && !TAKEN.has(name))
        expect(columns(JSON.parse(text) as Answer)).to.deep.equal(columns(response as Answer))
    })
})
