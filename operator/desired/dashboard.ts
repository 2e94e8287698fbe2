import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { backEndSettings } from './back-ends.ts'
import { buildControlApi } from './control-api.ts'
import { buildDashboardIngress } from './ingress.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { commonSettings, dashboardSettings, searchSettings } from './role-settings.ts'

export function buildDashboard(context: PipelineContext): readonly KubernetesObject[] {
  const { resources, allowFrom } = context.spec.dashboard ?? {}
  return [
    ...buildControlApi(context, {
      component: 'dashboard',
      settings: { ...commonSettings(context), ...searchSettings(context), ...backEndSettings(context), ...dashboardSettings(context) },
      port: PORTS.dashboard,
      ready: '/health',
      // Its health asks the back ends, too.
      alive: '/metrics',
      requests: { cpu: '50m', memory: '256Mi' },
      ...{ resources, allowFrom },
    }),
    ...buildDashboardIngress(context),
  ]
}
