/** The role `agent`: its sources by the settings, and the cluster that it runs in. */
import { ConfigError } from '../../config/environment.ts'
import type { SettingsOf } from '../../contract/env.ts'
import { findClusterAccess, podEnvironment } from '../../kube/find-access.ts'
import { KubeconfigError } from '../../kube/kubeconfig.ts'
import { SILENT } from '../../telemetry/log.ts'
import { searchConnection } from '../backends.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startAgent } from './agent.ts'
import { type ClusterWatch, createClusterWatch } from './cluster-watch.ts'
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
      cluster: standalone === undefined ? openCluster(context) : undefined,
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

/** By `KUBECONFIG`, else by the service account of the pod; undefined where there is neither. Throws `ConfigError` for a kubeconfig that cannot be used. */
function openCluster({ settings, log, clock }: RoleContext<'agent'>): ClusterWatch | undefined {
  const access = findAccess(settings)
  if (access === undefined) {
    log.info({}, 'no cluster: neither KUBECONFIG nor a service account; secrets and Flink jobs are not shown')
    return undefined
  }
  const namespace = settings.SERVICE_NAMESPACE ?? access.namespace
  log.info({ server: access.server, namespace, tenant: settings.SERVICE_TENANT_ID }, 'watching the cluster')
  return createClusterWatch({ access, namespace, tenant: settings.SERVICE_TENANT_ID }, { clock, log, random: Math.random })
}

function findAccess({ KUBECONFIG }: Pick<SettingsOf<'agent'>, 'KUBECONFIG'>) {
  try {
    return findClusterAccess({ ...podEnvironment(), KUBECONFIG })
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error
    throw new ConfigError([/^[A-Z_]+: /.test(error.message) ? error.message : `KUBECONFIG: ${error.message}`])
  }
}
