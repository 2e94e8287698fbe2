import { ROLES } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName } from '../api/components.ts'
import { buildControlApi } from './control-api.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { busSettings, commonSettings, type RoleSettings, searchSettings } from './role-settings.ts'
import { buildAgentAccess } from './service-account.ts'
import { streamEndpoint } from './stream-jobs.ts'

export const AGENT_PORT = ROLES.agent.listens[0]!.port

export function buildAgent(context: PipelineContext): readonly KubernetesObject[] {
  return [
    ...buildAgentAccess(context),
    ...buildControlApi(context, {
      component: 'agent',
      settings: {
        ...commonSettings(context),
        SERVICE_TENANT_ID: context.spec.tenant,
        ...busSettings(context),
        ...searchSettings(context),
        ...streamSettings(context),
      },
      port: AGENT_PORT,
      ready: '/ready',
      alive: '/health',
      requests: { cpu: '50m', memory: '128Mi' },
      resources: context.spec.agent?.resources,
      serviceAccount: componentName(context, 'agent'),
      hasClusterAccess: true,
    }),
  ]
}

function streamSettings(context: PipelineContext): RoleSettings {
  if (context.spec.stream?.enabled !== true) return {}
  return { STREAM_ETL_ENDPOINT: streamEndpoint(context, 'stream-etl'), STREAM_SCORE_ENDPOINT: streamEndpoint(context, 'stream-score') }
}
