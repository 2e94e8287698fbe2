import { PORTS } from '../../dataplane/contract/roles.ts'
import type { Component } from '../api/components.ts'
import { CONTROL_APIS } from './all-in-one.ts'
import { componentName, type PipelineContext, serviceHost } from './pipeline-context.ts'
import { streamEndpoint } from './stream-jobs.ts'

/** Addresses within the cluster (`status.endpoints`); in mode AllInOne one pod has them all. */
export function pipelineEndpoints(context: PipelineContext): Readonly<Record<string, string>> {
  const { components, name } = context
  const isAllInOne = components.includes('standalone')
  const hostOf = (component: Component) => serviceHost(context, componentName(context, component))
  const collector = hostOf('collector')
  const apis = (Object.keys(CONTROL_APIS) as Component[]).filter(component => isAllInOne || components.includes(component))
  return {
    otlpGrpc: `${collector}:${PORTS.otlpGrpc}`,
    otlpHttp: `http://${collector}:${PORTS.otlpHttp}`,
    ...Object.fromEntries(apis.map(component => [component, `http://${hostOf(component)}:${CONTROL_APIS[component]!.port}`])),
    ...(components.includes('stream-etl') && {
      streamEtl: streamEndpoint(context, 'stream-etl'),
      streamScore: streamEndpoint(context, 'stream-score'),
    }),
    ...(isAllInOne && { search: `http://${serviceHost(context, `${name}-search`)}:${PORTS.search}` }),
  }
}
