import { expect } from 'chai'
import { describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { createMemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { computeHour } from './compute-features.ts'
import { describeFeatureCompute } from './testing/compute-suite.ts'

describeFeatureCompute('the embedded search store', startEmbeddedSearchStore)

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
