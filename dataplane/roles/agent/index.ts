import type { SettingsOf } from '../../contract/env.ts'
import type { Bus } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { openRoleBus } from '../open-bus.ts'
import type { RoleContext, RunningRole } from '../role.ts'
import { startAgent } from './agent.ts'
import { openCluster } from './open-cluster.ts'
import type { StreamProcess } from './stream-source.ts'

export async function start(context: RoleContext<'agent'>): Promise<RunningRole & { readonly port: number }> {
  const { settings, log, clock } = context
  const cluster = openCluster(context)
  const bus = openWhenNeeded(async () => {
    if (settings.BUS_BROKERS === undefined)
      throw new Error(
        'BUS_BROKERS: expected the brokers to watch, seen nothing; the embedded bus is watched by the agent of its standalone',
      )
    // The source `bus` tells in the log why it does not answer.
    return await openRoleBus(settings, clock, SILENT)
  })
  const agent = await startAgent({
    bus: bus.get,
    ...agentConfig(settings),
    cluster,
    search: {
      endpoint: settings.SEARCH_ENDPOINT,
      username: settings.SEARCH_USERNAME,
      password: settings.SEARCH_PASSWORD,
      caFile: settings.SEARCH_CA_FILE,
    },
    host: settings.HOST,
    port: settings.PORT,
    portSetting: 'PORT',
    clock,
    log,
  }).catch(async error => {
    await bus.stop()
    throw error
  })
  log.info({ host: settings.HOST, port: agent.port, tenant: settings.SERVICE_TENANT_ID }, 'agent listens')
  return {
    port: agent.port,
    async stop() {
      await agent.stop()
      await bus.stop()
    },
  }
}

type AgentSettings = Pick<
  SettingsOf<'agent'>,
  'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC' | 'STREAM_ETL_ENDPOINT' | 'STREAM_SCORE_ENDPOINT'
>

/** What the settings say of topics and stream processes. */
export function agentConfig(settings: AgentSettings) {
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

/** A bus that is opened at the first use, and again while that fails. */
function openWhenNeeded(open: () => Promise<Bus>) {
  let opening: Promise<Bus> | undefined
  let opened: Bus | undefined
  return {
    get(): Promise<Bus> {
      opening ??= open().then(
        bus => {
          opened = bus
          return bus
        },
        error => {
          opening = undefined
          throw error
        },
      )
      return opening
    },
    /** Does not wait for brokers that have not answered yet. */
    async stop() {
      await opened?.stop()
    },
  }
}
