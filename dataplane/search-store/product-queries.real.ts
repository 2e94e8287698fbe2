import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterSummary, createClusterSummaryReader } from '../adapters/search/cluster-summary.ts'
import { createSearchStore } from '../adapters/search/search-store.ts'
import type { SearchStore } from '../ports/search-store.ts'
import { backendAddress } from '../testing/real/address.ts'
import { useAsBridge } from './testing/product-use/bridge-use.ts'
import { findCallSites } from './testing/product-use/call-sites.ts'
import { useAsExplainer } from './testing/product-use/explain-use.ts'
import { useAsFeatureCompute } from './testing/product-use/features-use.ts'
import { type RecordedStore, recordStore } from './testing/product-use/recorded-store.ts'
import { useAsRootCause } from './testing/product-use/root-cause-use.ts'
import { useAsScheduler } from './testing/product-use/scheduler-use.ts'
import { useAsTicketing } from './testing/product-use/ticketing-use.ts'
import { useAsVersionReader } from './testing/product-use/version-use.ts'
import { startTestStore, type TestStore } from './testing/test-store.ts'

export const needs = ['opensearch']

const USES: Readonly<Record<string, (recorded: RecordedStore) => Promise<unknown>>> = {
  'the bridge: templates, bulks, aliases, anomalies, incidents, audit, retention': useAsBridge,
  'the ticketing agent: list, pages, changes, batches, audit, configuration': useAsTicketing,
  'the search for a root cause: counts, call sites, pages of records': useAsRootCause,
  'a question to a language model: lines by their ids, resolved incidents': useAsExplainer,
  'the scheduler: runs by every filter and order, claims, the pause switch': useAsScheduler,
  'feature_compute: the aggregates of an hour': useAsFeatureCompute,
  'the console: another version of a service before an incident': useAsVersionReader,
}

/** Asked by the product and not compared here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  clusterStatus: 'one is yellow and the other green; the contract suite asks both',
  indexHealth: 'the same, and all indices of the store',
  timeMs: 'the time goes on; the contract suite asks both',
  indexSizes: 'sizes differ; the contract suite asks both',
  indexCreations: 'times differ; the contract suite asks both',
}

/** Files and folders that other suites run on both stores: what they ask depends on time and on keys made up, and no two runs ask alike. */
const IN_OTHER_SUITES: readonly (readonly [path: string, suite: string])[] = [
  ['dataplane/pipeline/tickets/', 'dataplane/pipeline/tickets/tickets.real.ts'],
  ['dataplane/pipeline/sinks/incidents/recurrence.ts', 'dataplane/pipeline/sinks/incidents/recurrence.real.ts'],
  ['dataplane/pipeline/sinks/retention/incident-retention.ts', 'dataplane/pipeline/sinks/retention/incident-retention.real.ts'],
  ['dataplane/pipeline/sinks/retention/thread-retention.ts', 'dataplane/pipeline/sinks/retention/thread-retention.real.ts'],
  // It hands on what others ask.
  ['dataplane/roles/bridge/kept-templates.ts', 'e2e/faults/opensearch-gone.real.ts'],
]

/** Calls with answers that only one of the stores gave. */
function differenceOf(real: readonly string[], own: readonly string[]): readonly string[] {
  const others = (calls: readonly string[], left: readonly string[], mark: string) => {
    const rest = [...left]
    return calls.flatMap(call => {
      const at = rest.indexOf(call)
      if (at >= 0) rest.splice(at, 1)
      return at >= 0 ? [] : [`${mark}: ${call}`]
    })
  }
  return [...others(real, own, 'OpenSearch'), ...others(own, real, 'embedded')]
}

describe('every query that the product itself sends: OpenSearch and the embedded store answer alike', function () {
  this.timeout(120_000)
  const address = backendAddress('opensearch')
  const called = new Set<string>()
  let embedded: TestStore
  let stores: readonly [real: SearchStore, embedded: SearchStore]

  const clear = () => fetch(`${address}/service-*?ignore_unavailable=true`, { method: 'DELETE' })
  before(async () => {
    await clear()
    embedded = await startTestStore()
    stores = [createSearchStore({ endpoint: address }), createSearchStore({ endpoint: embedded.url })]
  })
  after(async () => {
    await clear()
    await Promise.all((stores ?? []).map(store => store.close()))
    await embedded?.stop()
  })

  for (const [name, use] of Object.entries(USES))
    it(name, async () => {
      const [real, own] = [recordStore(stores[0]), recordStore(stores[1])]
      const [seenReal, seenOwn] = [await use(real), await use(own)]
      for (const site of real.callSites) called.add(site)
      expect(seenOwn, 'what the product makes of the answers').to.deep.equal(seenReal)
      expect(differenceOf(real.calls(), own.calls()), 'the calls and their answers').to.deep.equal([])
    })

  it('the agent: what an index more changes in the figures of the whole store', async () => {
    const index = 'service-audit-agent-figures'
    const changes: ClusterSummary[] = []
    for (const [at, endpoint] of [address, embedded.url].entries()) {
      const reader = createClusterSummaryReader({ endpoint })
      const earlier = await reader.read()
      for (let i = 0; i < 7; i++) await stores[at]!.put(index, String(i), { details: 'x' })
      await stores[at]!.refresh(index)
      const later = await reader.read()
      await reader.close()
      expect(Object.keys(later)).to.deep.equal(Object.keys(earlier))
      expect(later.totalSizeBytes).to.be.a('number')
      changes.push({
        ...later,
        status: 'green',
        totalSizeBytes: 0,
        indices: later.indices - earlier.indices,
        totalDocs: later.totalDocs - earlier.totalDocs,
        activePrimaryShards: later.activePrimaryShards - earlier.activePrimaryShards,
        activeShards: later.activeShards - earlier.activeShards,
      })
    }
    expect(changes[1]).to.deep.equal(changes[0])
  })

  it('a search of no index at all', async () => {
    const body = JSON.stringify({ size: 1, aggs: { a: { terms: { field: 'service' } } } })
    const answers = [address, embedded.url].map(async url => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const answer = await fetch(`${url}/service-nowhere-*/_search?ignore_unavailable=true&allow_no_indices=true`, options)
      return { ...((await answer.json()) as object), took: 0 }
    })
    expect(await answers[1]).to.deep.equal(await answers[0])
  })

  it('none is left out: each place in the product that asks the store has asked both', () => {
    const isElsewhere = (site: string) => IN_OTHER_SUITES.some(([path]) => site.startsWith(path))
    const left = [...findCallSites()].filter(([site, method]) => !called.has(site) && !(method in ELSEWHERE) && !isElsewhere(site))
    expect(left.map(([site, method]) => `${site} ${method}`)).to.deep.equal([])
  })
})
