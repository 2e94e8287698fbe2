import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { buildControlApi } from './control-api.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { busSettings, commonSettings, detectionSettings, indexSettings, onlineStoreSettings, searchSettings } from './role-settings.ts'
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
    ...buildControlApi(context, {
      component: 'bridge',
      settings,
      port: PORTS.bridge,
      ready: '/health',
      // Its health tells of Kafka and the search store, too.
      alive: '/metrics',
      requests: { cpu: '500m', memory: '512Mi' },
      resources: context.spec.bridge?.resources,
      // Without an online store it keeps an empty one.
      ...(settings.ONLINE_STORE_URL === undefined && { data: 'scratch' }),
      reread: [anomalyFiles(context)],
    }),
  ]
}
