/** The feature server, and the scheduler that computes what it serves. */
import { PORTS, ROLES } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { buildControlApi } from './control-api.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { commonSettings, onlineStoreSettings, searchSettings } from './role-settings.ts'

export const SCHEDULER_PORT = ROLES.scheduler.listens[0]!.port

export function buildFeatures(context: PipelineContext): readonly KubernetesObject[] {
  return buildControlApi(context, {
    component: 'features',
    settings: { ...commonSettings(context), ...onlineStoreSettings(context) },
    port: PORTS.features,
    ready: '/health',
    // Its health tells of the online store, too.
    alive: '/metrics',
    requests: { cpu: '50m', memory: '128Mi' },
    resources: context.spec.features?.resources,
  })
}

export function buildScheduler(context: PipelineContext): readonly KubernetesObject[] {
  return buildControlApi(context, {
    component: 'scheduler',
    settings: { ...commonSettings(context), ...searchSettings(context), ...onlineStoreSettings(context) },
    port: SCHEDULER_PORT,
    ready: '/health',
    alive: '/health',
    requests: { cpu: '50m', memory: '128Mi' },
    resources: context.spec.features?.resources,
  })
}
