/** The exactly-once jobs: ETL with enrichment, and scoring. */
import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { componentName } from '../api/components.ts'
import { buildControlApi } from './control-api.ts'
import { type PipelineContext, serviceHost } from './pipeline-context.ts'
import { busSettings, commonSettings, detectionSettings, numeric, onlineStoreSettings, type RoleSettings } from './role-settings.ts'

type StreamComponent = 'stream-etl' | 'stream-score'

export function buildStreamEtl(context: PipelineContext): readonly KubernetesObject[] {
  const settings = { ...numeric('RETENTION_DAYS', context.spec.search?.retentionDays), ...onlineStoreSettings(context) }
  return buildStreamJob(context, 'stream-etl', settings, settings.ONLINE_STORE_URL === undefined)
}

export function buildStreamScore(context: PipelineContext): readonly KubernetesObject[] {
  const bridge = `http://${serviceHost(context, componentName(context, 'bridge'))}:${PORTS.bridge}`
  return buildStreamJob(context, 'stream-score', { ...detectionSettings(context), BRIDGE_ENDPOINT: bridge }, false)
}

/** Where the agent asks for the health of a job. */
export function streamEndpoint(context: PipelineContext, component: StreamComponent): string {
  return `http://${serviceHost(context, componentName(context, component))}:${PORTS.stream}`
}

function buildStreamJob(
  context: PipelineContext,
  component: StreamComponent,
  settings: RoleSettings,
  needsScratch: boolean,
): readonly KubernetesObject[] {
  return buildControlApi(context, {
    component,
    settings: { ...commonSettings(context), ...busSettings(context), ...settings },
    port: PORTS.stream,
    ready: '/health',
    // Its health tells of Kafka, too.
    alive: '/metrics',
    requests: { cpu: '250m', memory: '256Mi' },
    resources: context.spec.stream?.resources,
    ...(needsScratch && { data: 'scratch' }),
    // The agent counts the addresses behind the name.
    isHeadless: true,
  })
}
