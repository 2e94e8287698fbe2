import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { buildAutoscaler } from './autoscaler.ts'
import { buildDeployment, buildDisruptionBudget } from './deployment.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import { componentName, type PipelineContext } from './pipeline-context.ts'
import { busSettings, commonSettings, detectionSettings, indexSettings, onlineStoreSettings, searchSettings } from './role-settings.ts'
import { buildService } from './service.ts'
import { plainServiceAccount } from './service-account.ts'
import { anomalyFiles, buildAnomalyConfigMap } from './ticketing-config.ts'

export function buildBridge(context: PipelineContext): readonly KubernetesObject[] {
  const settings = {
    ...commonSettings(context),
    ...busSettings(context),
    ...searchSettings(context),
    ...indexSettings(context),
    ...detectionSettings(context),
    ...onlineStoreSettings(context),
  }
  return [
    ...buildAnomalyConfigMap(context),
    buildDeployment(context, {
      component: 'bridge',
      settings,
      ports: { http: PORTS.bridge },
      ready: { path: '/health', port: 'http' },
      // Its health tells of Kafka and the search store, too.
      alive: { path: '/metrics', port: 'http' },
      requests: { cpu: '500m', memory: '512Mi' },
      resources: context.spec.bridge?.resources,
      serviceAccount: plainServiceAccount(context),
      // Without an online store it keeps an empty one.
      ...(settings.ONLINE_STORE_URL === undefined ? { data: 'scratch' } : {}),
      reread: [anomalyFiles(context)],
    }),
    ...buildAutoscaler(context, 'bridge'),
    ...buildDisruptionBudget(context, 'bridge'),
    buildService(context, {
      name: componentName(context, 'bridge'),
      component: 'bridge',
      ports: [{ name: 'http', port: PORTS.bridge, appProtocol: 'http' }],
    }),
    ...buildNetworkPolicy(context, 'bridge', { open: [], control: ['http'] }),
  ]
}
