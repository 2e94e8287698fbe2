import { join } from 'node:path'
import { type EmbeddedBus, openEmbeddedBus } from '../adapters/bus/embedded/embedded-bus.ts'
import type { SettingsOf } from '../contract/env.ts'
import { TOPICS } from '../contract/topics.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../telemetry/log.ts'

export type BusSettings = Pick<
  SettingsOf<'bridge'>,
  'DATA_DIR' | 'BUS_MAX_BYTES' | 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC'
>

/** The bus that the settings name: the embedded one, in `DATA_DIR/bus`. */
export function openBus(settings: BusSettings, clock: Clock, log: Log): Promise<EmbeddedBus> {
  const topics = Object.values(TOPICS).map(({ setting, partitions, retentionMs }) => ({ name: settings[setting], partitions, retentionMs }))
  return openEmbeddedBus({ dir: join(settings.DATA_DIR, 'bus'), topics, maxBytes: settings.BUS_MAX_BYTES, clock, log })
}
