/** What the checks look at, worked out once. */
import { type Component, leastAutoscaled, wantedComponents } from '../api/components.ts'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { PAUSED_ANNOTATION } from '../api/names.ts'
import { type ResolvedBus, resolveBus } from './bus-connection.ts'
import type { Gathered } from './gathered.ts'
import { pipelineReferences } from './references.ts'
import { type ResolvedReference, resolveReference } from './resolve-reference.ts'
import { topicPrefixOf } from './topic-prefix.ts'
import { type WorkloadState, workloadState } from './workload-state.ts'

export interface PipelineView {
  readonly gathered: Gathered
  readonly spec: LogPipelineSpec
  readonly isPaused: boolean
  readonly components: readonly Component[]
  /** Of the wanted components, those that are there. */
  readonly states: Readonly<Partial<Record<Component, WorkloadState>>>
  readonly references: readonly ResolvedReference[]
  readonly bus: ResolvedBus | undefined
  /** What the names of the topics begin with. */
  readonly topicPrefix: string
}

/** `isStartOverdue`: the pod of mode AllInOne has had its time (`startDeadlineMs`). */
export function viewPipeline(gathered: Gathered, { isStartOverdue = false } = {}): PipelineView {
  const { pipeline, workloads, pods } = gathered
  const { spec, metadata } = pipeline
  const components = wantedComponents(spec)
  const states = components.flatMap(component => {
    const workload = workloads[component]
    if (workload === undefined) return []
    const own = pods.filter(pod => pod.metadata.labels?.['app.kubernetes.io/component'] === component)
    const state = workloadState(workload, own, leastAutoscaled(spec, component))
    const isLate = component === 'standalone' && isStartOverdue
    return [[component, isLate ? { ...state, hasDeadlinePassed: true } : state] as const]
  })
  return {
    gathered,
    spec,
    isPaused: spec.paused === true || metadata.annotations?.[PAUSED_ANNOTATION] === 'true',
    components,
    states: Object.fromEntries(states),
    references: pipelineReferences(spec).map(reference => resolveReference(reference, gathered)),
    bus: resolveBus(spec, gathered),
    topicPrefix: topicPrefixOf(pipeline),
  }
}
