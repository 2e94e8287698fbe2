/** Outages as they are known from real companies, and times without one: what each service does in them, and whose fault it is. */
import { CLOCK_OUTAGES, CONFIGURATION_OUTAGES, PASSWORD_OUTAGES, SETTING_OUTAGES } from './configuration-outages.ts'
import { LIMIT_OUTAGES, QUEUE_OUTAGES } from './load-outages.ts'
import type { KnownOutage } from './outage-parts.ts'
import { KILL_OUTAGES, MEMORY_OUTAGES } from './platform-outages.ts'
import { QUIET_TIMES } from './quiet-times.ts'
import { RELEASE_OUTAGES, THIRD_PARTY_OUTAGES } from './release-outages.ts'
import { DROWNED_OUTAGES, SILENT_OUTAGES, UNNOTICED_OUTAGES } from './silent-outages.ts'
import { DATABASE_OUTAGES, FAILOVER_OUTAGES } from './store-outages.ts'

/** The order counts: benchmarks choose by it. */
export const OUTAGES: Readonly<Record<string, KnownOutage>> = {
  ...CONFIGURATION_OUTAGES,
  ...DATABASE_OUTAGES,
  ...QUEUE_OUTAGES,
  ...CLOCK_OUTAGES,
  ...RELEASE_OUTAGES,
  ...THIRD_PARTY_OUTAGES,
  ...DROWNED_OUTAGES,
  ...SETTING_OUTAGES,
  ...MEMORY_OUTAGES,
  ...FAILOVER_OUTAGES,
  ...SILENT_OUTAGES,
  ...KILL_OUTAGES,
  ...PASSWORD_OUTAGES,
  ...LIMIT_OUTAGES,
  ...UNNOTICED_OUTAGES,
  ...QUIET_TIMES,
}
