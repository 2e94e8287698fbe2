/** The gateway: its Deployment, its Services and Ingresses, and the certificate that it reads again. */
import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName, isOffered } from '../api/components.ts'
import { buildAutoscaler } from './autoscaler.ts'
import { backEndSettings } from './back-ends.ts'
import { LINGER_SECONDS } from './collector.ts'
import { buildDeployment, buildDisruptionBudget } from './deployment.ts'
import { buildGatewayIngresses, TLS_BACK_END_ANNOTATIONS } from './ingress.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import type { PipelineContext } from './pipeline-context.ts'
import type { FileMount } from './projected-files.ts'
import { commonSettings, gatewaySettings, searchSettings, TLS_DIR } from './role-settings.ts'
import { buildService } from './service.ts'
import { plainServiceAccount } from './service-account.ts'

export function buildGateway(context: PipelineContext): readonly KubernetesObject[] {
  return [
    buildDeployment(context, {
      component: 'gateway',
      settings: { ...commonSettings(context), ...searchSettings(context), ...backEndSettings(context), ...gatewaySettings(context) },
      ports: { https: PORTS.gateway, health: PORTS.gatewayHealth },
      ready: { path: '/health', port: 'health' },
      alive: { path: '/health', port: 'health' },
      requests: { cpu: '250m', memory: '384Mi' },
      resources: context.spec.gateway?.resources,
      serviceAccount: plainServiceAccount(context),
      reread: certificateFiles(context),
      lingerSeconds: LINGER_SECONDS,
    }),
    ...buildAutoscaler(context, 'gateway'),
    ...buildDisruptionBudget(context, 'gateway'),
    ...buildGatewayService(context, 'gateway'),
    // Not shown to the outside: health and metrics ask for no key.
    buildService(context, {
      name: `${context.name}-gate-health`,
      component: 'gateway',
      ports: [{ name: 'health', port: PORTS.gatewayHealth, appProtocol: 'http' }],
    }),
    ...buildNetworkPolicy(context, 'gateway', { open: ['https'], control: ['health'] }),
  ]
}

/** The Service of the gateway, and its Ingresses. */
export function buildGatewayService(context: PipelineContext, pods: 'gateway' | 'standalone'): readonly KubernetesObject[] {
  if (!isOffered(context.spec, 'gateway')) return []
  const { type = 'ClusterIP', annotations } = context.spec.gateway?.service ?? {}
  const target = pods === 'standalone' ? { target: 'gateway' } : {}
  const service = buildService(context, {
    name: componentName(context, 'gateway'),
    ...{ component: 'gateway', pods, type, annotations: { ...TLS_BACK_END_ANNOTATIONS, ...annotations } },
    ports: [{ name: 'https', port: PORTS.gateway, appProtocol: 'https', ...target }],
  })
  return [service, ...buildGatewayIngresses(context)]
}

/** The certificate, which the gateway reads again while it runs. */
export function certificateFiles({ spec }: PipelineContext): readonly FileMount[] {
  const name = isOffered(spec, 'gateway') ? spec.gateway?.tls?.secretName : undefined
  if (name === undefined) return []
  const files = Object.fromEntries(['tls.crt', 'tls.key'].map(key => [key, { kind: 'secret', name, key } as const]))
  return [{ volume: 'tls', directory: TLS_DIR, files }]
}
