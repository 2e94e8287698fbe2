/** Where the gateway and the dashboard reach the components of their pipeline. */
import type { SettingName } from '../../dataplane/contract/env.ts'
import { PORTS } from '../../dataplane/contract/roles.ts'
import { type Component, componentName, wantedComponents } from '../api/components.ts'
import { AGENT_PORT } from './agent.ts'
import { SCHEDULER_PORT } from './features.ts'
import { type PipelineContext, serviceHost } from './pipeline-context.ts'
import type { RoleSettings } from './role-settings.ts'

const BACK_ENDS: readonly (readonly [setting: SettingName, component: Component, port: number])[] = [
  ['COLLECTOR_ENDPOINT', 'collector', PORTS.otlpHttp],
  ['COLLECTOR_GRPC_ENDPOINT', 'collector', PORTS.otlpGrpc],
  ['BRIDGE_ENDPOINT', 'bridge', PORTS.bridge],
  ['TICKETING_ENDPOINT', 'ticketing', PORTS.ticketing],
  ['AGENT_ENDPOINT', 'agent', AGENT_PORT],
  ['SCHEDULER_ENDPOINT', 'scheduler', SCHEDULER_PORT],
  ['FEATURES_ENDPOINT', 'features', PORTS.features],
]

/** Addresses of the components that the pipeline has; the dashboard shows others as not configured. */
export function backEndSettings(context: PipelineContext): RoleSettings {
  const wanted = wantedComponents(context.spec)
  const addresses = BACK_ENDS.filter(([, component]) => wanted.includes(component)).map(([setting, component, port]) => [
    setting,
    `http://${serviceHost(context, componentName(context, component))}:${port}`,
  ])
  return Object.fromEntries(addresses)
}
