import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { SearchStore } from '../../ports/search-store.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { buildObservationDocument, hex } from '../../testing/observation-document.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { AT_MS, observation } from '../../testing/root-cause-fixture.ts'
import { readErrorTexts } from './read-error-texts.ts'

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
    const read = await readErrorTexts(embedded.store, { tenant: 'shop', atMs: AT_MS, toMs: AT_MS + 1_000 }, stored)
    expect(read.map(({ errorText }) => errorText)).to.deep.equal(['connect to orders-db refused', 'connect to mailer-db refused'])
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
    const errors = Array.from({ length: 100 }, (_, i) => observation({ timeMs: AT_MS, isError: true, pattern: `<*> ${i}`, logId: `${i}` }))
    const readFrom = async (characters: number) => {
      asked = 0
      await readErrorTexts(answerOf(characters) as SearchStore, { tenant: 'shop', atMs: AT_MS, toMs: AT_MS + 1_000 }, errors)
      return asked
    }
    expect(await readFrom(900_000)).to.equal(10)
    expect(await readFrom(10)).to.equal(120)
  })
})
