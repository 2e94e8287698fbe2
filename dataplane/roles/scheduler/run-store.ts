/** Runs and the pause switch of `feature_compute`, kept in the search store so that schedulers share them. */
import { CONFIG_INDEX, FEATURE_RUNS_INDEX } from '../../contract/indices.ts'
import { claim, FEATURE_JOB, type FeatureRun, isClaimable } from '../../domain/features/feature-run.ts'
import { type SearchStore, type Version, VersionConflict } from '../../ports/search-store.ts'

const KEYWORD = { type: 'keyword' } as const
const DATE = { type: 'date' } as const
const TEMPLATE = {
  index_patterns: [FEATURE_RUNS_INDEX],
  priority: 100,
  template: {
    mappings: {
      dynamic: false,
      properties: {
        dag_run_id: KEYWORD,
        run_type: KEYWORD,
        tenant_id: KEYWORD,
        state: KEYWORD,
        logical_date: DATE,
        data_interval_start: DATE,
        data_interval_end: DATE,
        run_after: DATE,
        queued_at: DATE,
        start_date: DATE,
        end_date: DATE,
      },
    },
  },
}

export interface RunQuery {
  readonly filters: readonly object[]
  readonly sort: readonly object[]
  readonly offset: number
  readonly limit: number
}

/** A run that this scheduler works on. */
export interface ClaimedRun {
  readonly run: FeatureRun
  readonly version: Version
}

/** Unfinished runs looked at together. */
const CLAIM_PAGE = 100
/** Filters of a query for the runs that a tenant is shown, as `isShownTo` says it. */
export function shownTo(tenant: string | undefined): readonly object[] {
  if (tenant === undefined) return []
  return [{ bool: { should: [{ term: { run_type: 'scheduled' } }, { term: { tenant_id: tenant } }], minimum_should_match: 1 } }]
}

const OLDEST_FIRST = [{ data_interval_start: 'asc' }, { queued_at: 'asc' }]

export interface RunStore {
  /** Makes the index of runs. */
  prepare(): Promise<void>
  isPaused(): Promise<boolean>
  setPaused(isPaused: boolean, nowMs: number): Promise<void>
  /** False when there is a run of this id. */
  create(run: FeatureRun): Promise<boolean>
  get(id: string): Promise<FeatureRun | undefined>
  list(query: RunQuery): Promise<{ readonly runs: readonly FeatureRun[]; readonly total: number }>
  /** The newest hour that a scheduled run was made for. */
  lastScheduledHour(): Promise<number | undefined>
  /** Claims the run of the oldest hour that no scheduler works on. */
  claimNext(nowMs: number): Promise<ClaimedRun | undefined>
  /** Stores the state of a claimed run, unless another scheduler has claimed it meanwhile. */
  update(claimed: ClaimedRun, run: FeatureRun): Promise<void>
}

interface PauseSwitch {
  readonly is_paused: boolean
}

export function createRunStore(store: SearchStore): RunStore {
  const search = async ({ filters, sort, offset, limit }: RunQuery) => {
    await store.refresh(FEATURE_RUNS_INDEX)
    const query = { bool: { filter: filters } }
    return store.search<FeatureRun>({ index: FEATURE_RUNS_INDEX, body: { query, sort, from: offset, size: limit, track_total_hits: true } })
  }
  return {
    prepare: () => store.putIndexTemplate(FEATURE_RUNS_INDEX, TEMPLATE),
    async isPaused() {
      return (await store.get<PauseSwitch>(CONFIG_INDEX, FEATURE_JOB))?.source.is_paused ?? false
    },
    async setPaused(isPaused, nowMs) {
      await store.put(CONFIG_INDEX, FEATURE_JOB, { section: 'scheduler', is_paused: isPaused, updatedAt: new Date(nowMs).toISOString() })
    },
    create: run => unlessOvertaken(store.put(FEATURE_RUNS_INDEX, run.dag_run_id, run, { only: 'new' })).then(made => made !== undefined),
    get: async id => (await store.get<FeatureRun>(FEATURE_RUNS_INDEX, id))?.source,
    async list(query) {
      const { hits, total } = await search(query)
      return { runs: hits.map(({ source }) => source), total }
    },
    async lastScheduledHour() {
      const filters = [{ term: { run_type: 'scheduled' } }]
      const { hits } = await search({ filters, sort: [{ data_interval_start: 'desc' }], offset: 0, limit: 1 })
      return hits[0] === undefined ? undefined : Date.parse(hits[0].source.data_interval_start)
    },
    async claimNext(nowMs) {
      const filters = [{ terms: { state: ['queued', 'running'] } }]
      const { hits } = await search({ filters, sort: OLDEST_FIRST, offset: 0, limit: CLAIM_PAGE })
      for (const { id, source, seqNo, primaryTerm } of hits) {
        if (!isClaimable(source, nowMs)) continue
        const run = claim(source, nowMs)
        const version = await unlessOvertaken(store.put(FEATURE_RUNS_INDEX, id, run, { seqNo, primaryTerm }))
        if (version !== undefined) return { run, version }
      }
      return undefined
    },
    async update({ version }, run) {
      await unlessOvertaken(store.put(FEATURE_RUNS_INDEX, run.dag_run_id, run, version))
    },
  }
}

async function unlessOvertaken<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write
  } catch (error) {
    if (error instanceof VersionConflict) return undefined
    throw error
  }
}
