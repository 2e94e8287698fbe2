import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { createFeatureCache, type FeatureCache } from '../../pipeline/features/feature-cache.ts'
import { createEtlWork } from '../../pipeline/work/etl.ts'
import { openOnlineStore } from '../backends.ts'
import type { RoleContext } from '../role.ts'
import { startStreamJob } from './stream-job.ts'

/** ETL and enrichment: two steps of one job and one transaction, as both write `enriched-logs` (Decisions 2). */
export function start({ settings, log, clock }: RoleContext<'stream etl'>) {
  let features: FeatureCache | undefined
  return startStreamJob({
    name: 'etl',
    settings,
    counters: ['etlConsumed', 'etlRecordsReceived', 'etlProduced'],
    createWork(count, countDeadLetters, signal) {
      features ??= createFeatureCache({ open: () => openOnlineStore(settings), clock, log, signal })
      return createEtlWork({ settings: { ...settings, DEFAULT_TENANT }, features, standsBy: false, count, countDeadLetters, clock, log })
    },
    clock,
    log,
  })
}
