import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { type Log, SILENT } from '../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { buildObservationDocument, hex } from '../../testing/observation-document.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { AT_MS, observation } from '../../testing/root-cause-fixture.ts'
import { readErrorTexts } from './read-error-texts.ts'

const WINDOW = { tenant: 'shop', atMs: AT_MS }

const depsOf = (store: Pick<SearchStore, 'search'>, { clock = createFakeClock(), log = SILENT } = {}) => ({
  store: store as SearchStore,
  clock,
  log,
})

/** Errors of one page and a bit of the next one. */
const manyErrors = (count: number) =>
  Array.from({ length: count }, (_, i) => observation({ timeMs: AT_MS, isError: true, pattern: `<*> ${i}`, logId: `${i}` }))

/** Each warning as its text. */
function createRecordingLog(): Log & { readonly warnings: readonly string[] } {
  const warnings: string[] = []
  return { ...SILENT, warn: (...said: readonly unknown[]) => void warnings.push(String(said.at(-1))), warnings } as never
}

describe('messages of errors from the search store', () => {
  let embedded: EmbeddedSearchStore
  before(async function () {
    this.timeout(20_000)
    embedded = await startEmbeddedSearchStore()
    await putIndexTemplates(embedded.store)
  })
  after(() => embedded.stop())

  it('are those of each error, though records of one time without a trace share a log_id', async () => {
    const pattern = 'connect to <*> refused'
    const errors = ['orders', 'mailer'].map(service => observation({ timeMs: AT_MS, service, isError: true, pattern, logId: 'one' }))
    const shown = observation({ timeMs: AT_MS, service: 'orders', isError: false, pattern: 'order <*> saved', logId: 'one' })
    const operations = [...errors, shown].map((each, i) => ({
      action: 'index' as const,
      index: 'service-logs-2026.01.01',
      id: hex(`${i}`, 32),
      body: buildObservationDocument('shop', each, { message: each.isError ? `connect to ${each.service}-db refused` : 'order 1 saved' }),
    }))
    for (const { status } of await embedded.store.bulk(operations)) expect(status).to.equal('done')
    await embedded.store.refresh('service-logs-*')
    const stored = errors.map(each => ({ ...each, logId: hex(`shop ${each.logId}`, 32), patternId: hex(each.pattern, 16) }))
    const read = await readErrorTexts(depsOf(embedded.store), WINDOW, stored)
    expect(read.map(({ errorText }) => errorText)).to.deep.equal(['connect to orders-db refused', 'connect to mailer-db refused'])
  })

  it('come with those that may tell of a change, from before the window', async () => {
    const started = observation({ timeMs: AT_MS - 9_000, service: 'orders', isError: false, pattern: '{"msg":<*>}', logId: 'started' })
    const document = buildObservationDocument('shop', started, { message: '{"msg":"server started"}' })
    const [done] = await embedded.store.bulk([
      { action: 'index', index: 'service-logs-2026.01.01', id: hex('started', 32), body: document },
    ])
    expect(done!.status).to.equal('done')
    await embedded.store.refresh('service-logs-*')
    const stored = { ...started, logId: hex('shop started', 32), patternId: hex(started.pattern, 16) }
    const [read] = await readErrorTexts(depsOf(embedded.store), WINDOW, [stored])
    expect(read!.change).to.deep.equal({ text: 'server started', whole: '{"msg":"server started"}', isEvent: false })
  })

  it('come with the exception and the other side of the call that attributes name', async () => {
    const error = observation({ timeMs: AT_MS + 500, service: 'orders', isError: true, pattern: 'order failed', logId: 'attributes' })
    const attributes = { 'exception.type': 'IOException', 'exception.message': 'unexpected end', 'server.address': 'payments' }
    const said = { ...error, pattern: 'order failed: unexpected end' }
    const folded = { ...error, pattern: 'order failed, folded' }
    const operations = [error, said, folded].map(each => ({
      action: 'index' as const,
      index: 'service-logs-2026.01.01',
      id: hex(each.pattern, 32),
      body: buildObservationDocument('shop', each, each === folded ? { attributes } : attributes),
    }))
    for (const { status } of await embedded.store.bulk(operations)) expect(status).to.equal('done')
    await embedded.store.refresh('service-logs-*')
    const stored = [error, said, folded].map(each => ({ ...each, logId: hex('shop attributes', 32), patternId: hex(each.pattern, 16) }))
    const read = await readErrorTexts(depsOf(embedded.store), WINDOW, stored)
    const texts = ['order failed: IOException: unexpected end', said.pattern, 'order failed, folded: IOException: unexpected end']
    expect(read.map(({ errorText }) => errorText)).to.deep.equal(texts)
    expect(read.map(({ called }) => called?.hosts)).to.deep.equal([['payments'], ['payments'], ['payments']])
  })

  it('are read from the time before as well, where patterns have no words', async () => {
    const before = observation({ timeMs: AT_MS - 5_000.5, service: 'orders', isError: true, pattern: '{"msg":<*>}', logId: 'wordless' })
    const body = buildObservationDocument('shop', before, { message: '{"msg":"no stock"}' })
    const [outcome] = await embedded.store.bulk([{ action: 'index', index: 'service-logs-2026.01.01', id: hex('wordless', 32), body }])
    expect(outcome!.status).to.equal('done')
    await embedded.store.refresh('service-logs-*')
    const stored = [{ ...before, logId: hex('shop wordless', 32), patternId: hex(before.pattern, 16) }]
    const read = await readErrorTexts(depsOf(embedded.store), WINDOW, stored)
    expect(read.map(({ errorText, template }) => [errorText, template])).to.deep.equal([['no stock', `${before.template} no stock`]])
  })

  it('are few in one answer, and no further ones are asked for after long ones', async () => {
    let asked = 0
    const answerOf = (characters: number): Pick<SearchStore, 'search'> => ({
      search: async ({ body }) => {
        const { size } = body as { readonly size: number }
        asked += size
        const source = { log_id: 'none', service: 'none', pattern_id: 'none', message: 'm'.repeat(characters) }
        return { total: size, hits: Array.from({ length: size }, (_, i) => ({ index: 'i', id: `${i}`, source })) } as never
      },
    })
    const errors = manyErrors(100)
    const readFrom = async (characters: number) => {
      asked = 0
      await readErrorTexts(depsOf(answerOf(characters)), WINDOW, errors)
      return asked
    }
    expect(await readFrom(900_000)).to.equal(10)
    expect(await readFrom(10)).to.equal(120)
  })

  const errors = manyErrors(7)
  const answer = {
    total: 1,
    hits: [{ index: 'i', id: '0', source: { log_id: '0', service: errors[0]!.service, pattern_id: errors[0]!.patternId, message: 'm' } }],
  }

  it('are left out where the store fails: errors keep their patterns, and those read before their messages', async () => {
    let asked = 0
    const search = async () => {
      if (asked++ > 0) throw new SearchStoreUnavailable('away')
      return answer as never
    }
    const log = createRecordingLog()
    const read = await readErrorTexts(depsOf({ search }, { log }), WINDOW, errors)
    expect(read).to.deep.equal([{ ...errors[0], errorText: 'm' }, ...errors.slice(1)])
    expect(log.warnings).to.have.length(1)
  })

  it('are waited for two seconds in all, and no further ones are asked for then', async () => {
    const clock = createFakeClock()
    const asked: (() => void)[] = []
    const search = () => new Promise<never>(resolve => asked.push(() => resolve(answer as never)))
    let read: unknown
    const reading = readErrorTexts(depsOf({ search }, { clock }), WINDOW, errors).then(found => (read = found))
    while (clock.sleepers === 0) await new Promise(resolve => setImmediate(resolve))
    clock.advance(1_999)
    await Promise.resolve()
    expect(read).to.equal(undefined)
    clock.advance(1)
    await reading
    expect(read).to.deep.equal(errors)
    asked[0]!()
    await new Promise(resolve => setImmediate(resolve))
    expect(asked).to.have.length(1)
  })
})
