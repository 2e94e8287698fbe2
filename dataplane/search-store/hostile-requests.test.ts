import { type ClientRequest, request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type HostileRequest, hostileSearchRequests } from '../testing/hostile/search-requests.ts'
import { comparedDocuments } from './testing/comparison/compared-documents.ts'
import { startTestStore } from './testing/test-store.ts'

/** `HOSTILE_SEED=7 HOSTILE_REQUESTS=10000` looks further. */
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20261122)
const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 150)

/** Longest wait for an answer, ms: a query may take 30 s, and its hits as long again. */
const ANSWER_MS = 70_000

/** The thread is never held for so long, on a busy machine either. */
const LONGEST_TURN_MS = 1500

/** A request as it is, without a client that would refuse to send it; the status, or what became of the connection. */
function send(url: string, { method, path, headers, body }: HostileRequest): Promise<number | string> {
  return new Promise(resolve => {
    let outgoing: ClientRequest
    try {
      outgoing = httpRequest(url, { method, path, headers: { ...headers, 'content-length': body.length }, agent: false })
    } catch (error) {
      // A path that HTTP cannot carry.
      return resolve(String(error))
    }
    outgoing.on('response', response => {
      response.resume()
      response.on('close', () => resolve(response.statusCode!))
    })
    outgoing.on('error', error => resolve(error.message))
    outgoing.setTimeout(ANSWER_MS, () => resolve(504))
    outgoing.end(body)
  })
}

describe('hostile requests', function () {
  this.timeout(60_000 + REQUESTS * 2_000)

  it('are answered, none with a 500, while others are served', async () => {
    const store = await startTestStore()
    const documents = comparedDocuments(7, Date.UTC(2026, 10, 21, 12))
    for (let copy = 0; copy < Math.ceil(3000 / documents.length); copy++) {
      const lines = documents.map(
        ({ index, id, body }) => `{"create":{"_index":"${index}","_id":"${id}-${copy}"}}\n${JSON.stringify(body)}\n`,
      )
      expect((await store.request('POST', '/_bulk', lines.join(''))).status).to.equal(200)
    }
    expect((await store.request('GET', '/_count')).body.count).to.be.above(2500)
    const requests = hostileSearchRequests(SEED)
    const slow: string[] = []
    for (let at = 0; at < REQUESTS; at++) {
      const hostile = requests.next().value
      let longestMs = 0
      let last = performance.now()
      const watch = setInterval(() => {
        longestMs = Math.max(longestMs, performance.now() - last)
        last = performance.now()
      }, 5)
      const status = await send(store.url, hostile)
      clearInterval(watch)
      const shown = `request ${at} of seed ${SEED} (${hostile.note}): ${hostile.method} ${hostile.path.slice(0, 200)} ${hostile.body.toString('utf8', 0, 300)}`
      expect(status, shown).to.satisfy((answer: number | string) => typeof answer === 'string' || answer < 500)
      if (longestMs > LONGEST_TURN_MS) slow.push(`${Math.round(longestMs)} ms without a turn: ${shown}`)
    }
    expect(store.logged).to.deep.equal([])
    expect(slow).to.deep.equal([])
    expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    await store.restart()
    expect((await store.request('GET', '/_cluster/health')).body.status).to.equal('green')
    expect(store.logged).to.deep.equal([])
    await store.stop()
  })
})
