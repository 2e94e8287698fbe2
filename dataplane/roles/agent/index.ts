/** The role `agent`: its sources by the settings, and the cluster that it runs in. */
import type { SettingsOf } from '../../contract/env.ts'
import { SILENT } from '../../telemetry/log.ts'
import { searchConnection } from '../backends.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startAgent } from './agent.ts'
import type { StreamProcess } from './stream-source.ts'

/** Alone it watches a Kafka, and the cluster it runs in; in standalone the bus of the process. */
export const start = defineRole(async (context: RoleContext<'agent'>, { keep, backends }) => {
  const { settings, log, clock, standalone } = context
  const { HOST: host, SERVICE_TENANT_ID: tenant } = settings
  const bus = async () => {
    if (standalone === undefined && settings.BUS_BROKERS === undefined)
      throw new Error(
        'BUS_BROKERS: expected the brokers to watch, seen nothing; the embedded bus is watched by the agent of its standalone',
      )
    // The source `bus` tells in the log why it does not answer.
    return backends.bus(settings, SILENT)
  }
  const { port } = keep(
    await startAgent({
      bus,
      ...agentConfig(settings),
      // A standalone spares the code of Kubernetes' client and of YAML.
      cluster: standalone === undefined ? (await import('./open-cluster.ts')).openCluster(context) : undefined,
      search: searchConnection(settings),
      host,
      port: settings.PORT,
      portSetting: standalone?.portSetting ?? 'PORT',
      clock,
      log,
    }),
  )
  log.info({ host, port, tenant }, 'agent listens')
  return { port }
})

type AgentSettings = Pick<
  SettingsOf<'agent'>,
  'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC' | 'STREAM_ETL_ENDPOINT' | 'STREAM_SCORE_ENDPOINT'
>

/** Topics and stream processes by the settings. */
function agentConfig(settings: AgentSettings) {
  const stream: readonly (StreamProcess | undefined)[] = [
    settings.STREAM_ETL_ENDPOINT === undefined ? undefined : { name: 'etl', endpoint: settings.STREAM_ETL_ENDPOINT },
    settings.STREAM_SCORE_ENDPOINT === undefined ? undefined : { name: 'score', endpoint: settings.STREAM_SCORE_ENDPOINT },
  ]
  return {
    topics: {
      raw: settings.RAW_TOPIC,
      enriched: settings.ENRICHED_TOPIC,
      anomaly: settings.ANOMALY_TOPIC,
      deadLetter: settings.DEAD_LETTER_TOPIC,
    },
    stream: stream.filter(process => process !== undefined),
  }
}
