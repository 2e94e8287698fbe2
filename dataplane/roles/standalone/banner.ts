import { resolve } from 'node:path'
import type { Addresses } from './addresses.ts'

/**
 * The text for a person at a terminal once everything is up; `starting` are threads of the bridge that do not run yet, `missingBrokers` those of a
 * Kafka without which nothing is taken in; `isEmpty`: the data directory was made by this start; `command` is how the
 * program is called.
 */
export function banner(
  { dashboard, gateway, otlpGrpc, otlpHttp, health, search, bridge, ticketing, features, scheduler, agent, dataDir }: Addresses,
  starting: readonly string[],
  {
    missingBrokers,
    isEmpty = false,
    command = 'logpipeline',
  }: { readonly missingBrokers?: string | undefined; readonly isEmpty?: boolean; readonly command?: string } = {},
): string {
  const still = starting.length === 0 ? '' : `  (still starting: ${starting.join(', ')})`
  const missing =
    missingBrokers === undefined
      ? ''
      : `
  Nothing is taken in yet: the Kafka at ${missingBrokers} (BUS_BROKERS) cannot be used.
  Start it, or correct BUS_BROKERS; without BUS_BROKERS the bus is embedded.
`
  // Keys are those of a directory: the command is pasted where the settings of this process are not.
  const here = dataDir === resolve('data') ? '' : `DATA_DIR=${shellWord(dataDir)} `
  const demo = isEmpty
    ? `
  No logs yet? \`${command} demo\`, in another terminal, plays a small shop that breaks: its incident is in the console within two minutes.
`
    : ''
  return `
  logpipeline is up${missingBrokers === undefined ? '' : `, waiting for brokers ${missingBrokers}`}
${missing}
    Console            ${dashboard}
    OTLP over gRPC     ${otlpGrpc}
    OTLP over HTTP     ${otlpHttp}/v1/logs
    With an API key    ${gateway}/v1/logs  (${here}${command} keys create --tenant T)
    Search             ${search}/service-logs-*/_search
    Incidents          ${ticketing}/api/incidents
    Bridge             ${bridge}/health${still}
    Collector health   ${health}/
    ML features        ${features}/get-online-features
    Scheduler          ${scheduler}/api/v2/dags
    Infrastructure     ${agent}/metrics
    Data               ${dataDir}
${demo}
  Ctrl-C stops it; what was acknowledged stays.

`
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
