/** Statuses of pipelines in clusters that hold certain objects. For tests. */

import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import type { LogPipelineStatus } from '../../api/status.ts'
import { pipelineStatus } from '../conditions.ts'
import type { Pod, Workload } from '../foreign-kinds.ts'
import type { Gathered } from '../gathered.ts'
import { viewPipeline } from '../pipeline-view.ts'
import { gatheredFrom } from './gathered-from.ts'

export const NOW = '2026-11-21T12:00:00Z'
export const SPEC = { tenant: 'shop', bus: { bootstrapServers: ['kafka:9092'] }, search: { endpoint: 'https://search:9200' } }
export const DISTRIBUTED = ['collector', 'bridge', 'ticketing', 'agent']

export function pipelineObject(spec: object, metadata: object = {}): KubernetesObject {
  return {
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'LogPipeline',
    metadata: { name: 'shop', namespace: 'ns', generation: 3, ...metadata },
    spec,
  }
}

export function object(kind: string, name: string, fields: object = {}): KubernetesObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'ns' }, ...fields }
}

interface Counts {
  readonly replicas: number
  readonly updated: number
  readonly available: number
  readonly total: number
}

export function workload(
  component: string,
  { replicas = 1, updated = replicas, available = replicas, total = updated }: Partial<Counts> = {},
  conditions: readonly object[] = [],
): Workload {
  return {
    apiVersion: 'apps/v1',
    kind: component === 'standalone' ? 'StatefulSet' : 'Deployment',
    metadata: { name: `shop-${component}`, generation: 2, labels: { 'app.kubernetes.io/component': component } },
    spec: { replicas, template: { spec: { containers: [{ image: 'logpipeline:1' }] } } },
    status: {
      observedGeneration: 2,
      replicas: total,
      updatedReplicas: updated,
      readyReplicas: available,
      availableReplicas: available,
      conditions: conditions as NonNullable<Workload['status']>['conditions'] & object,
    },
  }
}

export function pod(component: string, status: Pod['status'] & object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `shop-${component}-x`, labels: { 'app.kubernetes.io/component': component } },
    status,
  }
}

export const running = (components: readonly string[]) =>
  components.map(component => workload(component, component === 'collector' ? { replicas: 2 } : {}))

export function statusOf(objects: readonly KubernetesObject[], others: Partial<Gathered> = {}): LogPipelineStatus {
  const desired = { inputsHash: 'h', endpoints: { otlpHttp: 'http://shop-collector.ns.svc:4318' }, selector: 'a=b' }
  return pipelineStatus({ view: viewPipeline(gatheredFrom(objects, others)), desired, now: NOW })
}

/** `<status> <reason>` of each condition. */
export function summary({ conditions = [] }: LogPipelineStatus): Readonly<Record<string, string>> {
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

export function messageOf({ conditions = [] }: LogPipelineStatus, type: string): string {
  return conditions.find(condition => condition.type === type)!.message
}

export const SETTLED = { Reconciling: 'False Settled', Stalled: 'False Settled' }
export const stalled = (reason: string) => ({ Ready: `False ${reason}`, Reconciling: 'False Stalled', Stalled: `True ${reason}` })
export const progressing = (reason: string) => ({ Ready: `False ${reason}`, Reconciling: `True ${reason}`, Stalled: 'False Progressing' })
