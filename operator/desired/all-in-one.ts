/** Mode AllInOne: `standalone` on a volume, behind the same Services as a distributed pipeline. */
import type { V1PersistentVolumeClaim, V1StatefulSet } from '@kubernetes/client-node'
import { PORTS } from '../../dataplane/contract/roles.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { type Component, componentName, isOffered } from '../api/components.ts'
import { AGENT_PORT } from './agent.ts'
import { buildCollectorServices, COLLECTOR_PORTS, LINGER_SECONDS } from './collector.ts'
import { SCHEDULER_PORT } from './features.ts'
import { buildGatewayService, certificateFiles } from './gateway.ts'
import { buildDashboardIngress } from './ingress.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { buildPodTemplate } from './pod-template.ts'
import {
  commonSettings,
  dashboardSettings,
  detectionSettings,
  gatewaySettings,
  indexSettings,
  onlineStoreSettings,
  searchSettings,
  ticketingSettings,
} from './role-settings.ts'
import { buildService } from './service.ts'
import { plainServiceAccount } from './service-account.ts'
import { buildDeclaredTicketing, ticketingFiles } from './ticketing-config.ts'
import { type Json, typed } from './typed-object.ts'

const DEFAULT_SIZE = '20Gi'
const CLAIM = 'data'

/** Control APIs: the port that a Service has for it, and the one it has within standalone. */
export const CONTROL_APIS: Readonly<Partial<Record<Component, { readonly port: number; readonly within: number }>>> = {
  bridge: { port: PORTS.bridge, within: PORTS.bridge },
  ticketing: { port: PORTS.ticketing, within: PORTS.ticketing },
  agent: { port: AGENT_PORT, within: PORTS.agent },
  features: { port: PORTS.features, within: PORTS.features },
  scheduler: { port: SCHEDULER_PORT, within: PORTS.scheduler },
  dashboard: { port: PORTS.dashboard, within: PORTS.dashboard },
}
const API_COMPONENTS = Object.keys(CONTROL_APIS) as Component[]

/** The control APIs that have a Service. */
export function offeredApis({ spec }: Pick<PipelineContext, 'spec'>): readonly Component[] {
  const hasService = { agent: spec.agent?.enabled !== false, dashboard: isOffered(spec, 'dashboard') } as const
  return API_COMPONENTS.filter(component => (component === 'agent' || component === 'dashboard' ? hasService[component] : true))
}

export function buildAllInOne(context: PipelineContext): readonly KubernetesObject[] {
  return [
    ...buildDeclaredTicketing(context),
    buildStatefulSet(context),
    // Gives the pod its name; not called `health`, so that the pod is scraped once.
    buildService(context, {
      name: context.name,
      component: 'standalone',
      isHeadless: true,
      ports: [{ name: 'pod', port: PORTS.health, target: 'health' }],
    }),
    ...buildCollectorServices(context, 'standalone'),
    ...buildGatewayService(context, 'standalone'),
    ...offeredApis(context).map(component => buildApiService(context, component)),
    ...buildDashboardIngress(context),
    buildService(context, {
      name: `${context.name}-search`,
      component: 'standalone',
      ports: [{ name: 'search', port: PORTS.search, appProtocol: 'http' }],
    }),
    ...buildNetworkPolicy(context, 'standalone', {
      open: ['otlp-grpc', 'otlp-http', ...(isOffered(context.spec, 'gateway') ? ['gateway'] : [])],
      control: ['health', ...offeredApis(context), 'search'],
      guests: { ports: ['dashboard'], namespaces: isOffered(context.spec, 'dashboard') ? (context.spec.dashboard?.allowFrom ?? []) : [] },
    }),
  ]
}

function buildApiService(context: PipelineContext, component: Component): KubernetesObject {
  const { port } = CONTROL_APIS[component]!
  return buildService(context, {
    name: componentName(context, component),
    component,
    pods: 'standalone',
    ports: [{ name: 'http', port, target: component, appProtocol: 'http' }],
  })
}

function buildStatefulSet(context: PipelineContext): KubernetesObject {
  const { spec } = context
  return typed<V1StatefulSet>(metadataOf(context, componentName(context, 'standalone'), 'standalone'), {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    spec: {
      replicas: 1,
      serviceName: context.name,
      // In order, a pod that cannot start would keep the template that mends it from being used.
      podManagementPolicy: 'Parallel',
      // Given, so that a partition or `OnDelete` of somebody else, with which nothing would roll, is put back.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 3,
      selector: { matchLabels: { ...selectorLabels(context, 'standalone') } },
      template: buildPodTemplate(context, {
        component: 'standalone',
        settings: {
          ...commonSettings(context),
          SERVICE_TENANT_ID: spec.tenant,
          ...searchSettings(context),
          ...indexSettings(context),
          ...detectionSettings(context),
          ...onlineStoreSettings(context),
          ...ticketingSettings(context),
          ...gatewaySettings(context),
          ...dashboardSettings(context),
        },
        ports: {
          ...COLLECTOR_PORTS,
          gateway: PORTS.gateway,
          ...Object.fromEntries(API_COMPONENTS.map(component => [component, CONTROL_APIS[component]!.within])),
          search: PORTS.search,
        },
        ready: { path: '/', port: 'health' },
        alive: { path: '/health', port: 'health' },
        requests: { cpu: '500m', memory: '1Gi' },
        resources: spec.allInOne?.resources,
        serviceAccount: plainServiceAccount(context),
        data: { claim: CLAIM },
        reread: [ticketingFiles(context), ...certificateFiles(context)],
        lingerSeconds: LINGER_SECONDS,
      }),
      volumeClaimTemplates: [claimTemplate(context)],
    },
  })
}

/** Stays when the pipeline is removed: logs are not thrown away with a resource. */
function claimTemplate({ spec }: PipelineContext): Json<V1PersistentVolumeClaim> {
  const { size = DEFAULT_SIZE, storageClassName } = spec.allInOne?.storage ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: CLAIM },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(size) } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  }
}
