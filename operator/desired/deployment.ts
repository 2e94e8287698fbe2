/** A component as a Deployment, with what surrounds its pods. */
import type { V1Deployment, V1PodDisruptionBudget } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { type Component, componentName } from '../api/components.ts'
import { metadataOf, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { buildPodTemplate, type PodDescription } from './pod-template.ts'
import { appliedReplicas, leastReplicas } from './replicas.ts'
import { typed } from './typed-object.ts'

const OLD_REPLICA_SETS = 3

export function buildDeployment(context: PipelineContext, pod: PodDescription): KubernetesObject {
  const { component } = pod
  const replicas = appliedReplicas(context, component)
  return typed<V1Deployment>(metadataOf(context, componentName(context, component), component), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      revisionHistoryLimit: OLD_REPLICA_SETS,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: { ...selectorLabels(context, component) } },
      template: buildPodTemplate(context, pod),
    },
  })
}

/** From two pods on: one may be away at a time. */
export function buildDisruptionBudget(context: PipelineContext, component: Component): readonly KubernetesObject[] {
  if (leastReplicas(context, component) < 2) return []
  const budget = typed<V1PodDisruptionBudget>(metadataOf(context, componentName(context, component), component), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: { ...selectorLabels(context, component) } },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  })
  return [budget]
}
