import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createSearchServer } from '../../search-server/search-server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createMemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { describeFeatureCompute } from './compute-contract.ts'
import { computeHour } from './compute-features.ts'

describeFeatureCompute('the embedded search store', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'logpipeline-features-'))
  const server = createSearchServer({ dir, host: '127.0.0.1', port: 0, clock: systemClock, log: SILENT })
  await server.start()
  const store = createSearchStore({ endpoint: `http://127.0.0.1:${server.address!.port}` })
  return {
    store,
    async stop() {
      await store.close()
      await server.stop()
      rmSync(dir, { recursive: true })
    },
  }
})

describe('feature_compute without its stores', () => {
  it('writes and removes nothing when the search store cannot be reached', async () => {
    const search = createMemorySearchStore()
    const online = createMemoryOnlineStore()
    const row = { tenant: 'acme', service: 'checkout', values: { ml_error_rate_1h: 1 }, eventMs: 1, writtenMs: 1 }
    await online.write([row])
    search.unavailable = true
    const error = await computeHour({ search, online, clock: systemClock, log: SILENT }, 0).catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(SearchStoreUnavailable)
    expect(online.rows()).to.deep.equal([row])
  })
})
