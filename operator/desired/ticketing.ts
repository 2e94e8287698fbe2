import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { buildControlApi } from './control-api.ts'
import { encryptionKeySettings } from './encryption-key.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { commonSettings, searchSettings, ticketingSettings } from './role-settings.ts'
import { buildDeclaredTicketing, ticketingFiles } from './ticketing-config.ts'

export function buildTicketing(context: PipelineContext): readonly KubernetesObject[] {
  return [
    ...buildDeclaredTicketing(context),
    ...buildControlApi(context, {
      component: 'ticketing',
      settings: {
        ...commonSettings(context),
        ...searchSettings(context),
        ...ticketingSettings(context),
        ...encryptionKeySettings(context),
      },
      port: PORTS.ticketing,
      ready: '/health',
      alive: '/health',
      requests: { cpu: '50m', memory: '128Mi' },
      resources: context.spec.ticketing?.resources,
      reread: [ticketingFiles(context)],
    }),
  ]
}
