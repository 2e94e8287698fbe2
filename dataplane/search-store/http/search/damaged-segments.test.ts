/** Searches over a damaged segment: all of the rest, an answer that says so, and the whole again where the documents are whole. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createProcessRunner } from '../../query-process/process-runner.ts'
import { nodeFiles } from '../../storage/log-engine/format/index-files.ts'
import { SegmentFile } from '../../storage/log-engine/format/segment-file.ts'
import { findDirectory, readDirectory, type SegmentDirectory } from '../../storage/log-engine/format/segment-index/segment-directory.ts'
import { createLocalRunner } from '../../testing/local-runner.ts'
import { NOW_MS, startTestStore, type TestStore } from '../../testing/test-store.ts'

const INDEX = 'service-logs-2026.11.20'
/** So many are sealed at a stop. */
const DOCS = 8_200

const lines = (from: number) =>
  Array.from(
    { length: DOCS },
    (_, k) => `{"create":{"_id":"${from + k}"}}\n{"n":${from + k},"service":"s${k % 7}","message":"number ${k} of many"}\n`,
  ).join('')

interface Damaged {
  readonly store: TestStore
  readonly clock: ReturnType<typeof createFakeClock>
  /** The first of two sealed segments. */
  readonly path: string
}

function directoryOf(path: string): SegmentDirectory | undefined {
  const file = new SegmentFile(nodeFiles, path)
  const span = findDirectory(file, file.sizeBytes)
  const directory = span && readDirectory(file, span)
  file.close()
  return directory
}

/** Damages the column of `n` of a segment that is sealed. */
function damageNumbers(path: string): void {
  const directory = directoryOf(path)
  if (directory !== undefined) flip(path, directory.columns.get('n')!.values[0] + 20)
}

const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at]! ^= 0x10
  writeFileSync(path, bytes)
}

for (const [where, createQueryRunner] of [
  ['in the thread of the store', createLocalRunner],
  ['in a process of their own', createProcessRunner],
] as const) {
  /** A store with two sealed segments that were damaged before anybody read them. */
  const withDamage = async (damage: (path: string) => void, use: (damaged: Damaged) => Promise<void>) => {
    const dir = mkdtempSync(join(tmpdir(), 'damaged-segments-'))
    const clock = createFakeClock(NOW_MS)
    const store = await startTestStore({ dir, clock, createQueryRunner })
    try {
      for (let n = 0; n < 2; n++) {
        expect((await store.request('POST', `/${INDEX}/_bulk`, lines(n * DOCS))).body.errors).to.equal(false)
        await store.restart()
      }
      const settings = await store.request('GET', `/${INDEX}/_settings?flat_settings=true`)
      const folder = join(dir, 'indices', settings.body[INDEX].settings['index.uuid'])
      const path = join(
        folder,
        readdirSync(folder)
          .sort()
          .find(name => name.endsWith('.seg'))!,
      )
      damage(path)
      await use({ store, clock, path })
    } finally {
      await store.stop()
      rmSync(dir, { recursive: true, force: true })
    }
  }
  const search = (store: TestStore, more = '') => store.request('GET', `/${INDEX}/_search?sort=n&size=3&track_total_hits=true${more}`)

  describe(`an index with a damaged segment, with queries ${where}`, function () {
    this.timeout(60_000)

    it('answers with the documents of its other segments, says what failed, and has all of them once its index was made anew', () =>
      withDamage(damageNumbers, async ({ store, clock, path }) => {
        const partial = await search(store)
        expect(partial.status, partial.text).to.equal(200)
        expect(partial.body._shards).to.deep.include({ total: 1, successful: 0, skipped: 0, failed: 1 })
        expect(partial.body._shards.failures[0]).to.nested.include({ index: INDEX, 'reason.type': 'no_shard_available_action_exception' })
        expect(partial.body._shards.failures[0].reason.reason).to.match(new RegExp(`^${path} is damaged at byte \\d+ .*made anew`))
        expect(partial.body.hits.total.value).to.equal(DOCS)
        expect(partial.body.hits.hits.map((hit: { _id: string }) => Number(hit._id))).to.deep.equal([DOCS, DOCS + 1, DOCS + 2])
        // All or nothing.
        const refused = await search(store, '&allow_partial_search_results=false')
        expect([refused.status, refused.body.error.type, refused.body.error.reason]).to.deep.equal([
          503,
          'search_phase_execution_exception',
          'Partial shards failure',
        ])
        const counted = await store.request('POST', `/${INDEX}/_count`, { query: { range: { n: { gte: 5 } } } })
        expect([counted.body.count, counted.body._shards.failed]).to.deep.equal([DOCS, 1])
        // Half of what was to be deleted would mislead.
        const deleted = await store.request('POST', `/${INDEX}/_delete_by_query`, { query: { range: { n: { lt: 10 } } } })
        expect(deleted.status, deleted.text).to.equal(503)
        // Parts that are sound answer whole.
        const byTerm = await store.request('GET', `/${INDEX}/_search?q=service:s3&size=0&track_total_hits=true`)
        expect(byTerm.body._shards.failed).to.equal(0)
        await clock.advance(5_000)
        let whole = await search(store)
        for (let k = 0; k < 200 && whole.body._shards.failed > 0; k++) whole = await search(store)
        expect(whole.body._shards).to.include({ total: 1, successful: 1, failed: 0 })
        expect(whole.body.hits.total.value).to.equal(2 * DOCS)
        expect(whole.body.hits.hits.map((hit: { _id: string }) => Number(hit._id))).to.deep.equal([0, 1, 2])
        const told = store.logged.filter(each => JSON.stringify(each).includes('is damaged at byte'))
        expect(told.length).to.equal(1)
      }))

    it('goes on with a scroll over what is there, each document once', () =>
      withDamage(damageNumbers, async ({ store }) => {
        const seen = new Set<string>()
        let page = await store.request('POST', `/${INDEX}/_search?scroll=1m`, { size: 1000, sort: ['n'] })
        for (let k = 0; k < 30 && page.body.hits.hits.length > 0; k++) {
          expect(page.status, page.text).to.equal(200)
          expect(page.body._shards.failed).to.equal(1)
          for (const { _id } of page.body.hits.hits) {
            expect(seen.has(_id)).to.equal(false)
            seen.add(_id)
          }
          page = await store.request('POST', '/_search/scroll', { scroll: '1m', scroll_id: page.body._scroll_id })
        }
        expect(seen.size).to.equal(DOCS)
      }))

    it('is a failed shard where nothing else is left of it', () =>
      withDamage(
        path => {
          for (const name of readdirSync(dirname(path)).filter(each => each.endsWith('.seg'))) damageNumbers(join(dirname(path), name))
        },
        async ({ store }) => {
          const answer = await search(store)
          expect([answer.status, answer.body.error.type]).to.deep.equal([503, 'search_phase_execution_exception'])
        },
      ))

    it('keeps the rest where its documents are damaged as well, and where a reader does not come upon them all', () =>
      withDamage(
        path => flip(path, 2_000),
        async ({ store, clock }) => {
          const partial = await search(store)
          expect([partial.status, partial.body._shards.failed, partial.body.hits.total.value]).to.deep.equal([200, 1, DOCS])
          await clock.advance(5_000)
          await clock.advance(5_000)
          expect((await search(store)).body.hits.total.value).to.equal(DOCS)
          const whole = await store.request('GET', `/${INDEX}/_count`)
          expect([whole.body.count, whole.body._shards.failed]).to.deep.equal([2 * DOCS, 0])
        },
      ))
  })

  if (createQueryRunner === createProcessRunner)
    describe('a segment that was lost under a running store', function () {
      this.timeout(60_000)

      for (const [what, lose, isMended] of [
        ['that has lost its end', (path: string) => truncateSync(path, readFileSync(path).length - 20), true],
        ['whose directory is damaged', (path: string) => flip(path, readFileSync(path).length - 100), true],
        ['that was emptied', (path: string) => truncateSync(path), false],
        ['whose file is not there', (path: string) => rmSync(path), true],
      ] as const)
        it(`(${what}) costs its own documents, and ${isMended ? 'is made anew from them' : 'no others'}`, () =>
          withDamage(lose, async ({ store, clock }) => {
            const partial = await search(store)
            expect([partial.status, partial.body._shards?.failed, partial.body.hits?.total.value], partial.text).to.deep.equal([
              200,
              1,
              DOCS,
            ])
            for (let k = 0; k < 20; k++) await clock.advance(5_000)
            let answer = await search(store)
            for (let k = 0; k < 100 && isMended && answer.body._shards.failed > 0; k++) answer = await search(store)
            expect([answer.body._shards.failed, answer.body.hits.total.value]).to.deep.equal(isMended ? [0, 2 * DOCS] : [1, DOCS])
          }))
    })
}
