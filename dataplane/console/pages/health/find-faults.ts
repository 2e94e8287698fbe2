/** Faults of the installation, worst first, in sentences. */
import type { InfrastructureMetrics } from '../../api/agent.ts'
import type { BridgeHealth } from '../../api/bridge.ts'
import { type DashboardHealth, titleOfBackend } from '../../api/dashboard.ts'
import { formatCount } from '../../components/format.ts'

export interface HealthReadings {
  readonly backends: DashboardHealth | undefined
  readonly infrastructure: InfrastructureMetrics | undefined
  readonly bridge: BridgeHealth | undefined
}

export interface Fault {
  readonly tone: 'bad' | 'warn'
  readonly text: string
}

/** More messages than these wait when the bridge does not keep up. */
export const LAG_TO_MENTION = 1_000

/** The next step where a component does not answer. */
export const START_IT = 'Start it, or look into its log.'

export function findFaults({ backends, infrastructure, bridge }: HealthReadings): readonly Fault[] {
  const faults: Fault[] = []
  const bad = (text: string) => faults.push({ tone: 'bad', text })
  const warn = (text: string) => faults.push({ tone: 'warn', text })
  for (const [name, state] of Object.entries(backends?.backends ?? {}))
    if (state === 'disconnected') bad(`The ${titleOfBackend(name)} does not answer the dashboard. ${START_IT}`)
  for (const [name, state] of Object.entries(bridge?.threads ?? {}))
    if (state !== 'running') bad(`The bridge's thread ${name} is ${state}.`)
  if (bridge !== undefined && bridge.bus !== 'connected') bad(`The bridge is ${bridge.bus} from the message bus.`)
  if (bridge !== undefined && bridge.search !== 'connected')
    bad(
      bridge.search === 'disconnected'
        ? 'The bridge is disconnected from the search store.'
        : `The search store, as the bridge sees it: ${bridge.search}.`,
    )
  if (infrastructure === undefined) return faults
  const { bus, stream, search, secrets, deadLetters } = infrastructure
  if (bus.status !== 'healthy') (bus.status === 'down' ? bad : warn)(`The message bus is ${bus.status}${behindColon(bus.reason)}.`)
  if (search.status === 'red') bad('The search store is red: some data cannot be read or written.')
  if (search.status === 'yellow') warn(`The search store is yellow${behindColon(search.reason ?? 'some copies of the data are missing')}.`)
  for (const { name, state } of stream.jobs)
    if (state !== 'RUNNING') (state === 'FAILED' ? bad : warn)(`The stream job ${name} is ${state}.`)
  // Where the agent cannot ask, it names no member.
  if (stream.status !== 'healthy' && stream.jobs.every(({ state }) => state === 'RUNNING')) warn(`The stream jobs are ${stream.status}.`)
  if (secrets.status !== 'healthy' && secrets.externalSecrets.every(({ status }) => status === 'SecretSynced'))
    warn(`The external secrets are ${secrets.status}.`)
  for (const { name, status } of secrets.externalSecrets) if (status !== 'SecretSynced') warn(`The secret ${name} is not synchronised.`)
  for (const [topic, { consumerLag }] of Object.entries(bus.topics))
    if (consumerLag > LAG_TO_MENTION) warn(`${formatCount(consumerLag)} messages wait in ${topic}.`)
  const letters = deadLetters?.letters ?? 0
  if (letters > 0) warn(letters === 1 ? 'One dead letter lies in the queue.' : `${formatCount(letters)} dead letters lie in the queue.`)
  return faults.sort((a, b) => a.tone.localeCompare(b.tone))
}

const behindColon = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`)
