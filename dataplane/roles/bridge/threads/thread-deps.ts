import type { BridgeMetric } from '../../../contract/counters.ts'
import type { SettingsOf } from '../../../contract/env.ts'
import type { CountDeadLetters } from '../../../pipeline/dead-letters/dead-letter.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { RuntimeConfig } from '../runtime-config.ts'

/** Settings that the bridge's threads read. */
export type BridgeSettings = Pick<
  SettingsOf<'bridge'>,
  | 'RAW_TOPIC'
  | 'ENRICHED_TOPIC'
  | 'ANOMALY_TOPIC'
  | 'DEAD_LETTER_TOPIC'
  | 'RETENTION_DAYS'
  | 'ANOMALY_THRESHOLD'
  | 'WINDOW_SIZE'
  | 'LOG_LEVEL'
  | 'SEARCH_USERNAME'
  | 'SEARCH_PASSWORD'
  | 'SEARCH_CA_FILE'
  | 'SEARCH_SHARDS'
  | 'SEARCH_REPLICAS'
  | 'ONLINE_STORE_URL'
  | 'ONLINE_STORE_USERNAME'
  | 'ONLINE_STORE_PASSWORD'
  | 'DATA_DIR'
> & {
  readonly SEARCH_ENDPOINT: string
  /** Missing: nothing is declared. */
  readonly TICKETING_CONFIG_DIR?: string
  /** Tenant of a record whose resource names none. */
  readonly DEFAULT_TENANT: string
}

/** The tools of each of the bridge's threads. */
export interface ThreadDeps {
  readonly settings: BridgeSettings
  readonly bus: Bus
  readonly config: RuntimeConfig
  readonly count: (counter: BridgeMetric, amount: number) => void
  readonly countDeadLetters?: CountDeadLetters | undefined
  readonly log: Log
  readonly clock: Clock
  /** Aborts when the thread is to stop. */
  readonly signal: AbortSignal
}
