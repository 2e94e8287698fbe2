/** The view of a pipeline: references, bus and routes resolved once from the gathered objects. Plan and status are made from it. */
import { type Component, leastAutoscaled, wantedComponents } from '../api/components.ts'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { PAUSED_ANNOTATION } from '../api/names.ts'
import { type ResolvedBus, resolveBus } from './bus-connection.ts'
import { lostKey } from './encryption-key.ts'
import type { Problem } from './finding.ts'
import type { Gathered } from './gathered.ts'
import { BUS_USERS, pipelineReferences } from './references.ts'
import { type ResolvedReference, resolveReference } from './resolve-reference.ts'
import { type SelectedRoute, selectRoutes } from './routes/routes.ts'
import { topicPrefixOf } from './topic-prefix.ts'
import { type WorkloadState, workloadState } from './workloads/workload-state.ts'

export interface PipelineView {
  readonly gathered: Gathered
  readonly spec: LogPipelineSpec
  readonly isPaused: boolean
  readonly components: readonly Component[]
  /** States of the wanted components that are there. */
  readonly states: Readonly<Partial<Record<Component, WorkloadState>>>
  readonly references: readonly ResolvedReference[]
  readonly bus: ResolvedBus | undefined
  /** First part of the names of the topics. */
  readonly topicPrefix: string
  readonly routes: readonly SelectedRoute[]
}

export function viewPipeline(gathered: Gathered): PipelineView {
  const { pipeline } = gathered
  const { spec } = pipeline
  return {
    ...viewRunning(gathered),
    spec,
    components: wantedComponents(spec),
    references: pipelineReferences(spec).map(reference => resolveReference(reference, gathered)),
    bus: resolveBus(spec, gathered),
    topicPrefix: topicPrefixOf(pipeline),
    routes: selectRoutes(pipeline, gathered),
  }
}

/** The part of the view that changes while objects are applied. */
export function viewRunning(gathered: Gathered): Pick<PipelineView, 'gathered' | 'isPaused' | 'states'> {
  const { pipeline, workloads, pods } = gathered
  const { spec, metadata } = pipeline
  const states = wantedComponents(spec).flatMap(component => {
    const workload = workloads[component]
    if (workload === undefined) return []
    const own = pods.filter(pod => pod.metadata.labels?.['app.kubernetes.io/component'] === component)
    return [[component, workloadState(workload, own, leastAutoscaled(spec, component))] as const]
  })
  const isPaused = spec.paused === true || metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
  return { gathered, isPaused, states: Object.fromEntries(states) }
}

/** The Secret or bus address without which a component cannot run; undefined when nothing is missing. */
export function whatIsLacking(
  { references, bus, gathered }: Pick<PipelineView, 'references' | 'bus' | 'gathered'>,
  component: Component,
): Problem | undefined {
  const lacking = references.find(({ reference, values }) => values === undefined && reference.usedBy.includes(component))
  const lost = component === 'ticketing' ? lostKey(gathered) : undefined
  return lacking?.problem ?? lost ?? (BUS_USERS.includes(component) && bus?.connection === undefined ? bus?.problem : undefined)
}
