/** The autoscaler of a component: by CPU use, or by the records that wait on the bus. */
import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { autoscalingOf, type Component, componentName, leastAutoscaled } from '../api/components.ts'
import type { Autoscaling } from '../api/workload.ts'
import { isServed } from '../observed/gathered.ts'
import { buildLagAutoscaler } from './lag-autoscaler.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import { typed } from './typed-object.ts'

const DEFAULT_CPU_PERCENT = 75

/** Nothing where the resource asks for none, or for KEDA, which is not installed. */
export function buildAutoscaler(context: PipelineContext, component: Component): readonly KubernetesObject[] {
  const autoscaling = autoscalingOf(context.spec, component)
  if (autoscaling === undefined) return []
  if (autoscaling.keda !== true) return [buildCpuAutoscaler(context, component, autoscaling)]
  return isServed(context.gathered, 'ScaledObject.keda.sh') ? buildLagAutoscaler(context, component, autoscaling) : []
}

function buildCpuAutoscaler(context: PipelineContext, component: Component, autoscaling: Autoscaling): KubernetesObject {
  const name = componentName(context, component)
  const { maxReplicas, targetCpuPercent = DEFAULT_CPU_PERCENT } = autoscaling
  return typed<V2HorizontalPodAutoscaler>(metadataOf(context, name, component), {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: leastAutoscaled(context.spec, component)!,
      maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: targetCpuPercent } } }],
    },
  })
}
