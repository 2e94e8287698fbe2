/** The plan of a pipeline: the builder of each component, and the objects that all of them make. */
import { PORTS } from '../../dataplane/contract/roles.ts'
import { type KubernetesObject, type ObjectReference, referenceTo } from '../../dataplane/kube/object.ts'
import { type Component, componentName, isOffered } from '../api/components.ts'
import type { DesiredFacts } from '../observed/conditions.ts'
import { type PipelineView, whatIsLacking } from '../observed/pipeline-view.ts'
import { buildAgent } from './agent.ts'
import { buildAllInOne, CONTROL_APIS, offeredApis } from './all-in-one.ts'
import { buildBridge } from './bridge.ts'
import { buildBus, leftoverTopics } from './bus.ts'
import { buildCollector } from './collector.ts'
import { buildDashboard } from './dashboard.ts'
import { buildEncryptionKey, type MadeOnce } from './encryption-key.ts'
import { buildFeatures, buildScheduler } from './features.ts'
import { buildGateway } from './gateway.ts'
import { inputsHash } from './inputs-hash.ts'
import { buildMonitoring } from './monitoring.ts'
import { createPipelineContext, type OperatorSettings, type PipelineContext, selectorLabels, serviceHost } from './pipeline-context.ts'
import { buildPlainServiceAccount } from './service-account.ts'
import { buildStreamEtl, buildStreamScore, streamEndpoint } from './stream-jobs.ts'
import { buildTicketing } from './ticketing.ts'
import { isHeldTicketing } from './ticketing-config.ts'

type Builder = (context: PipelineContext) => readonly KubernetesObject[]

const COMPONENT_BUILDERS: Readonly<Record<Component, Builder>> = {
  collector: buildCollector,
  gateway: buildGateway,
  bridge: buildBridge,
  'stream-etl': buildStreamEtl,
  'stream-score': buildStreamScore,
  ticketing: buildTicketing,
  agent: buildAgent,
  dashboard: buildDashboard,
  features: buildFeatures,
  scheduler: buildScheduler,
  standalone: buildAllInOne,
}

export interface PipelinePlan {
  /** Every object that the pipeline should have, in the order in which they are applied. */
  readonly objects: readonly KubernetesObject[]
  /**
   * Workloads that lack something (a Secret, the address of the bus), the declared layer of ticketing while a Secret of it cannot be read, and topics that
   * are not wanted any more. They have to stay as they are: neither applied nor removed.
   * Pods that run keep running, and none is made that could not start.
   */
  readonly held: readonly ObjectReference[]
  /** Made where they are missing; neither changed nor removed otherwise. */
  readonly madeOnce: readonly MadeOnce[]
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
  const objects = [buildPlainServiceAccount(context), ...buildBus(context), ...components, ...buildMonitoring(context, components)]
  return {
    objects: objects.filter(object => !held.has(object)),
    held: [...held, ...leftoverTopics(context, objects)].map(referenceTo),
    madeOnce: buildEncryptionKey(context),
    facts: factsOf(context, components),
  }
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

/** Addresses within the cluster (`status.endpoints`); in mode AllInOne one pod has them all. */
function pipelineEndpoints(context: PipelineContext): Readonly<Record<string, string>> {
  const { components, name } = context
  const isAllInOne = components.includes('standalone')
  const hostOf = (component: Component) => serviceHost(context, componentName(context, component))
  const collector = hostOf('collector')
  const apis = offeredApis(context).filter(component => isAllInOne || components.includes(component))
  return {
    otlpGrpc: `${collector}:${PORTS.otlpGrpc}`,
    otlpHttp: `http://${collector}:${PORTS.otlpHttp}`,
    ...(isOffered(context.spec, 'gateway') && { gateway: `https://${hostOf('gateway')}:${PORTS.gateway}` }),
    ...Object.fromEntries(apis.map(component => [component, `http://${hostOf(component)}:${CONTROL_APIS[component]!.port}`])),
    ...(components.includes('stream-etl') && {
      streamEtl: streamEndpoint(context, 'stream-etl'),
      streamScore: streamEndpoint(context, 'stream-score'),
    }),
    ...(isAllInOne && { search: `http://${serviceHost(context, `${name}-search`)}:${PORTS.search}` }),
  }
}
