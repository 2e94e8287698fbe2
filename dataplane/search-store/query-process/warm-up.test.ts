/** The work before the first query reads, within bounds, the parts of segments that the query would read. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { executeQuery } from '../calls/execute-query.ts'
import { LOOP_TURNS } from '../query/budget/pace.ts'
import type { ReadableIndex } from '../storage/index-storage.ts'
import { nodeFiles } from '../storage/log-engine/format/index-files.ts'
import { LOG_MAPPING } from '../storage/log-engine/testing/log-mapping.ts'
import { openIndex, withDirectory } from '../storage/log-engine/testing/temporary-index.ts'
import { type Body, openingQuestions, usualQuestions } from './usual-questions.ts'
import { warmUp } from './warm-up.ts'

const FIRST_MS = Date.UTC(2026, 10, 21, 3)
const COUNT = 3_000

const documents = Array.from({ length: COUNT }, (_none, at) => ({
  timestamp: new Date(FIRST_MS + 700 * at).toISOString(),
  message: at % 3 === 0 ? `session ${at} of user ended` : `query took ${at} ms`,
  level: ['INFO', 'WARN', 'ERROR'][at % 3]!,
  service: `s${at % 4}`,
  tenant_id: 'acme',
  pattern_id: `p${at % 30}`,
  host: `h${at % 3}`,
  environment: 'production',
  duration_ms: at / 8,
}))

describe('what the query process does before the first query', function () {
  this.timeout(30_000)

  /** `reads`: where in its files the index has been read since `clear`. */
  const withIndex = (
    use: (index: ReadableIndex, reads: { clear(): void; count(): number }) => Promise<void>,
    { mapping = LOG_MAPPING, docs = documents as readonly object[] } = {},
  ) =>
    withDirectory(async dir => {
      let reads = 0
      const read = (...of: Parameters<typeof nodeFiles.read>) => {
        reads++
        return nodeFiles.read(...of)
      }
      const files = { ...nodeFiles, read }
      const index = await openIndex(dir, mapping, files)
      await index.apply(docs.map((doc, at) => ({ action: 'create', id: `d${at}`, source: Buffer.from(JSON.stringify(doc)) })))
      await index.seal()
      await use(index, {
        clear() {
          reads = 0
        },
        count: () => reads,
      })
      await index.close()
    })

  const clock = { nowMs: () => FIRST_MS }
  const context = { clock, turns: LOOP_TURNS, leftMs: () => 10_000, hasRoom: () => true }

  async function answerTo(index: ReadableIndex, body: Body) {
    const resolve = async () => [{ storage: index, filter: undefined }]
    const call = { operation: 'search', index: undefined, parameters: new URLSearchParams(), acceptsGzip: false } as const
    const { whole } = await executeQuery(
      { ...call, body: Buffer.from(JSON.stringify(body)) },
      { ...context, resolve, resolvePointInTime: resolve },
    )
    return JSON.parse(Buffer.from(whole!).toString())
  }

  const ofWord: Body = {
    size: 0,
    query: { match_phrase: { message: 'of user' } },
    aggs: { times: { date_histogram: { field: 'timestamp', fixed_interval: '10m' }, aggs: { levels: { terms: { field: 'level' } } } } },
  }

  it('reads all that an opening page and a histogram of words ask for', () =>
    withIndex(async (index, reads) => {
      await warmUp([index], context)
      reads.clear()
      for (const body of [...openingQuestions(), ofWord]) expect((await answerTo(index, body)).hits.total.value).to.be.above(0)
      expect(reads.count()).to.equal(0)
    }))

  it('asks questions that are answered, with values that records have', () =>
    withIndex(async index => {
      for (const round of [0, 1, 2]) {
        const bodies = usualQuestions(index, index.segments(), round)
        expect(bodies).to.have.lengthOf(7 * 5)
        const answers = []
        for (const body of bodies) answers.push(await answerTo(index, body))
        expect(answers.filter(({ error, timed_out, _shards }) => error !== undefined || timed_out || _shards.failed > 0)).to.deep.equal([])
        // All but one of five words that stand nowhere next to each other.
        expect(answers.filter(({ hits, aggregations }) => hits.hits.length > 0 || aggregations !== undefined)).to.have.length.above(7 * 4)
      }
    }))

  it('reads nothing once its time is over', () =>
    withIndex(async (index, reads) => {
      reads.clear()
      await warmUp([index], { ...context, leftMs: () => -1 })
      expect(reads.count()).to.equal(0)
    }))

  const { message: _text, ...properties } = LOG_MAPPING.properties!
  const withoutMessage = { mapping: { ...LOG_MAPPING, properties }, docs: documents.map(({ message: _message, ...doc }) => doc) }
  const bySeconds: Body = {
    size: 0,
    aggs: { times: { date_histogram: { field: 'timestamp', fixed_interval: '7s' }, aggs: { levels: { terms: { field: 'level' } } } } },
  }

  for (const hasRoom of [true, false])
    it(`reads ${hasRoom ? 'columns' : 'no columns'} for later ${hasRoom ? 'as long as there is' : 'without'} room`, () =>
      withIndex(async (index, reads) => {
        await warmUp([index], { ...context, hasRoom: () => hasRoom })
        reads.clear()
        await answerTo(index, bySeconds)
        expect(reads.count() === 0).to.equal(hasRoom)
      }, withoutMessage))

  it('asks nothing but what counts tell of documents that are no log records', () =>
    withIndex(async index => {
      expect(usualQuestions(index, index.segments(), 0)).to.deep.equal([])
    }, withoutMessage))
})
