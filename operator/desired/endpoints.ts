import { PORTS } from '../../dataplane/contract/roles.ts'
import { type Component, wantedComponents } from '../api/components.ts'
import { AGENT_PORT } from './agent.ts'
import { SCHEDULER_PORT } from './features.ts'
import { componentName, type PipelineContext, serviceHost } from './pipeline-context.ts'
import { streamEndpoint } from './stream-jobs.ts'

/** Ports of control APIs, by the component that each is the address of. */
const API_PORTS: Readonly<Partial<Record<Component, number>>> = {
  bridge: PORTS.bridge,
  ticketing: PORTS.ticketing,
  agent: AGENT_PORT,
  features: PORTS.features,
  scheduler: SCHEDULER_PORT,
}

/** Addresses within the cluster (`status.endpoints`); in mode AllInOne one pod has them all. */
export function pipelineEndpoints(context: PipelineContext): Readonly<Record<string, string>> {
  const wanted = wantedComponents(context.spec)
  const isAllInOne = wanted.includes('standalone')
  const collector = serviceHost(context, componentName(context, 'collector'))
  const apis = Object.entries(API_PORTS).filter(([component]) => isAllInOne || wanted.includes(component as Component))
  return {
    otlpGrpc: `${collector}:${PORTS.otlpGrpc}`,
    otlpHttp: `http://${collector}:${PORTS.otlpHttp}`,
    ...Object.fromEntries(
      apis.map(([component, port]) => [
        component,
        `http://${serviceHost(context, componentName(context, component as Component))}:${port}`,
      ]),
    ),
    ...(wanted.includes('stream-etl')
      ? { streamEtl: streamEndpoint(context, 'stream-etl'), streamScore: streamEndpoint(context, 'stream-score') }
      : {}),
    ...(isAllInOne ? { search: `http://${serviceHost(context, `${context.name}-search`)}:${PORTS.search}` } : {}),
  }
}
