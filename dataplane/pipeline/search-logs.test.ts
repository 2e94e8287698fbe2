import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SearchStoreUnavailable } from '../ports/search-store.ts'
import { createMemorySearchStore } from '../testing/memory-search-store.ts'
import { searchLogs } from './search-logs.ts'

const [fromMs, toMs] = [Date.UTC(2026, 10, 21, 22), Date.UTC(2026, 10, 22, 2)]

describe('logs of a time', () => {
  const searched = async (...red: readonly string[]) => {
    const store = createMemorySearchStore()
    for (const day of ['20', '21', '22', '23']) await store.put(`service-logs-2026.11.${day}`, day, { message: day })
    for (const name of red) store.red.add(name)
    return await searchLogs(store, { body: { size: 10 }, fromMs, toMs })
      .then(({ hits }) => hits.map(({ id }) => id))
      .catch((error: unknown) => error)
  }

  it('are found while indices of other days are away', async () => {
    expect(await searched()).to.deep.equal(['20', '21', '22', '23'])
    expect(await searched('service-logs-2026.11.20', 'service-logs-2026.11.23')).to.deep.equal(['21', '22'])
  })

  it('are not taken for all while an index that may hold some is away', async () => {
    for (const name of ['service-logs-2026.11.21', 'service-logs-2026.11.22', 'service-logs-copy']) {
      const error = await searched('service-logs-2026.11.20', name)
      expect(error).to.be.instanceOf(SearchStoreUnavailable)
      expect((error as Error).message).to.equal(`search store cannot read ${name}`)
    }
  })

  it('are asked for again where nothing is away any more', async () => {
    const store = createMemorySearchStore()
    store.red.add('service-logs-2026.11.01')
    const error = await searchLogs({ ...store, indexHealth: async () => new Map() }, { body: {}, fromMs, toMs }).catch((e: unknown) => e)
    expect(error).to.be.instanceOf(SearchStoreUnavailable)
  })
})
