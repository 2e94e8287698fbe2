/** The plan of a pipeline: the builder of each component, and the objects that all of them make. */

import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import type { Component } from '../api/components.ts'
import type { DesiredFacts } from '../observed/conditions.ts'
import { type PipelineView, whatIsLacking } from '../observed/pipeline-view.ts'
import { buildAgent } from './agent.ts'
import { buildAllInOne } from './all-in-one.ts'
import { buildBridge } from './bridge.ts'
import { buildBus } from './bus.ts'
import { buildCollector } from './collector.ts'
import { pipelineEndpoints } from './endpoints.ts'
import { buildFeatures, buildScheduler } from './features.ts'
import { inputsHash } from './inputs-hash.ts'
import { buildMonitoring } from './monitoring.ts'
import { createPipelineContext, type OperatorSettings, type PipelineContext, selectorLabels } from './pipeline-context.ts'
import { buildPlainServiceAccount } from './service-account.ts'
import { buildStreamEtl, buildStreamScore } from './stream-jobs.ts'
import { buildTicketing } from './ticketing.ts'
import { isHeldTicketing } from './ticketing-config.ts'

type Builder = (context: PipelineContext) => readonly KubernetesObject[]

export const COMPONENT_BUILDERS: Readonly<Record<Component, Builder>> = {
  collector: buildCollector,
  bridge: buildBridge,
  'stream-etl': buildStreamEtl,
  'stream-score': buildStreamScore,
  ticketing: buildTicketing,
  agent: buildAgent,
  features: buildFeatures,
  scheduler: buildScheduler,
  standalone: buildAllInOne,
}

export interface PipelinePlan {
  /** Every object that the pipeline should have, in the order in which they are applied. */
  readonly objects: readonly KubernetesObject[]
  /**
   * Workloads that lack something (a Secret, the address of the bus), and the declared layer of ticketing while a Secret of it cannot be read. They have
   * to stay as they are: neither applied nor removed.
   * Pods that run keep running, and none is made that could not start.
   */
  readonly held: readonly ObjectReference[]
  readonly facts: DesiredFacts
}

export function planPipeline(view: PipelineView, settings: OperatorSettings): PipelinePlan {
  const context = createPipelineContext(view, settings)
  const held = new Set<KubernetesObject>()
  const components = view.components.flatMap(component => {
    const built = COMPONENT_BUILDERS[component](context)
    const isWaiting = whatIsLacking(view, component) !== undefined
    for (const object of built) if ((isWaiting && isHeld(object)) || isHeldTicketing(context, object)) held.add(object)
    return built
  })
  const objects = [buildPlainServiceAccount(context), ...buildBus(context), ...components, ...buildMonitoring(context)]
  return { objects: objects.filter(object => !held.has(object)), held: [...held].map(referenceTo), facts: factsOf(context, components) }
}

function factsOf(context: PipelineContext, objects: readonly KubernetesObject[]): DesiredFacts {
  const scaled = context.spec.mode === 'AllInOne' ? 'standalone' : 'bridge'
  const labels = Object.entries(selectorLabels(context, scaled)).map(([label, value]) => `${label}=${value}`)
  return { inputsHash: hashOfPods(objects), endpoints: pipelineEndpoints(context), selector: labels.join(',') }
}

function hashOfPods(objects: readonly KubernetesObject[]): string {
  return inputsHash(
    objects.filter(isWorkload).map(({ metadata, ['spec']: spec }) => [metadata.name, (spec as WorkloadSpec).template.metadata.annotations]),
  )
}

interface WorkloadSpec {
  readonly template: { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } }
}

const isWorkload = ({ kind }: KubernetesObject) => kind === 'Deployment' || kind === 'StatefulSet'

/** An autoscaler speaks to the bus as well. */
function isHeld(object: KubernetesObject): boolean {
  return isWorkload(object) || object.kind === 'ScaledObject' || object.kind === 'TriggerAuthentication'
}
