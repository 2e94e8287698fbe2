import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName } from '../api/components.ts'
import { buildAutoscaler } from './autoscaler.ts'
import { buildDeployment, buildDisruptionBudget } from './deployment.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { busSettings, commonSettings } from './role-settings.ts'
import { buildService, type ServicePortDescription } from './service.ts'
import { plainServiceAccount } from './service-account.ts'

/** Listeners of the collector, by the names of its ports. */
export const COLLECTOR_PORTS = { 'otlp-grpc': PORTS.otlpGrpc, 'otlp-http': PORTS.otlpHttp, health: PORTS.health } as const

const OTLP: readonly ServicePortDescription[] = [
  { name: 'otlp-grpc', port: PORTS.otlpGrpc, appProtocol: 'grpc' },
  { name: 'otlp-http', port: PORTS.otlpHttp, appProtocol: 'http' },
]
const HEALTH: ServicePortDescription = { name: 'health', port: PORTS.health, appProtocol: 'http' }

/** A Service takes a while to notice that a pod stops. */
export const LINGER_SECONDS = 5

export function buildCollector(context: PipelineContext): readonly KubernetesObject[] {
  return [
    buildDeployment(context, {
      component: 'collector',
      settings: { ...commonSettings(context), SERVICE_TENANT_ID: context.spec.tenant, ...busSettings(context) },
      ports: COLLECTOR_PORTS,
      ready: { path: '/', port: 'health' },
      alive: { path: '/health', port: 'health' },
      requests: { cpu: '250m', memory: '384Mi' },
      resources: context.spec.collector?.resources,
      serviceAccount: plainServiceAccount(context),
      lingerSeconds: LINGER_SECONDS,
    }),
    ...buildAutoscaler(context, 'collector'),
    ...buildDisruptionBudget(context, 'collector'),
    ...buildCollectorServices(context, 'collector'),
    ...buildNetworkPolicy(context, 'collector', { open: ['otlp-grpc', 'otlp-http'], control: ['health'] }),
  ]
}

/** Health and metrics are not shown to the outside: beside a Service of another type than ClusterIP they have one of their own. */
export function buildCollectorServices(context: PipelineContext, pods: 'collector' | 'standalone'): readonly KubernetesObject[] {
  const name = componentName(context, 'collector')
  const { type = 'ClusterIP', annotations } = context.spec.collector?.service ?? {}
  const common = { name, component: 'collector', pods, type, ...(annotations === undefined ? {} : { annotations }) } as const
  if (type === 'ClusterIP') return [buildService(context, { ...common, ports: [...OTLP, HEALTH] })]
  return [
    buildService(context, { ...common, ports: OTLP }),
    buildService(context, { name: `${context.name}-health`, component: 'collector', pods, ports: [HEALTH] }),
  ]
}
