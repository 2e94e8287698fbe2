/** What all builders of one pipeline work with. */

import { TENANT_LABEL } from '../../dataplane/contract/tenant-id.ts'
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../dataplane/kube/object.ts'
import { COMPONENTS, type Component } from '../api/components.ts'
import type { LogPipeline, LogPipelineSpec } from '../api/log-pipeline.ts'
import { API_GROUP_VERSION, PRODUCT } from '../api/names.ts'
import { type BusConnection, resolveBus } from '../observed/bus-connection.ts'
import type { Gathered } from '../observed/gathered.ts'
import { pipelineReferences } from '../observed/references.ts'
import { type ResolvedReference, resolveReference, type SecretValue } from '../observed/resolve-reference.ts'
import { type SelectedRoute, selectRoutes } from '../observed/routes.ts'
import { topicPrefixOf } from '../observed/topic-prefix.ts'

/** What the operator itself is told, by its environment. */
export interface OperatorSettings {
  /** Image of the operator's own release, which components run when a pipeline names none. */
  readonly image: string
  /** Namespace of the operator's own pods; not known outside of a cluster. */
  readonly namespace?: string
}

export interface PipelineContext {
  readonly pipeline: LogPipeline
  readonly spec: LogPipelineSpec
  readonly name: string
  readonly namespace: string
  readonly settings: OperatorSettings
  readonly gathered: Gathered
  readonly references: readonly ResolvedReference[]
  /** Values from Secrets, by setting; those that could not be found are absent. */
  readonly secrets: Readonly<Record<string, SecretValue>>
  /** Absent while the address is not known, and in mode AllInOne. */
  readonly bus: BusConnection | undefined
  /** What the names of the topics begin with. */
  readonly topicPrefix: string
  readonly routes: readonly SelectedRoute[]
}

export function createPipelineContext(gathered: Gathered, settings: OperatorSettings): PipelineContext {
  const { pipeline } = gathered
  const { metadata, spec } = pipeline
  const references = pipelineReferences(spec).map(reference => resolveReference(reference, gathered))
  const values = references.flatMap(({ values = [] }) => values)
  return {
    pipeline,
    spec,
    name: metadata.name,
    namespace: metadata.namespace ?? 'default',
    settings,
    gathered,
    references,
    secrets: Object.fromEntries(values.map(value => [value.setting, value])),
    bus: resolveBus(spec, gathered)?.connection,
    topicPrefix: topicPrefixOf(pipeline),
    routes: selectRoutes(pipeline, gathered),
  }
}

/** The one pod of mode AllInOne is called like the pipeline: a StatefulSet's name may have 52 characters only. */
export function componentName({ name }: Pick<PipelineContext, 'name'>, component: Component): string {
  return component === 'standalone' ? name : `${name}-${component}`
}

/** Labels by which a component's pods are found; they never change. */
export function selectorLabels({ name }: Pick<PipelineContext, 'name'>, component?: Component): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': PRODUCT,
    'app.kubernetes.io/instance': name,
    ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }),
  }
}

export function labelsOf(context: PipelineContext, component?: Component): Readonly<Record<string, string>> {
  return {
    ...selectorLabels(context, component),
    'app.kubernetes.io/part-of': PRODUCT,
    'app.kubernetes.io/managed-by': 'logpipeline-operator',
    [TENANT_LABEL]: context.spec.tenant,
  }
}

/** Metadata of an object that is removed with its pipeline. */
export function metadataOf(context: PipelineContext, name: string, component?: Component): ObjectMeta {
  return { name, namespace: context.namespace, labels: labelsOf(context, component), ownerReferences: [ownerOf(context.pipeline)] }
}

function ownerOf({ kind, metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion: API_GROUP_VERSION, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** Address of a Service within the cluster. */
export function serviceHost({ namespace }: Pick<PipelineContext, 'namespace'>, service: string): string {
  return `${service}.${namespace}.svc`
}

/** Whether a component has all that it needs; one that has not is left as it is. */
export function isReady(context: PipelineContext, component: Component): boolean {
  const lacksSecret = context.references.some(({ reference, values }) => values === undefined && reference.usedBy.includes(component))
  return !lacksSecret && (context.bus !== undefined || !BUS_ROLES.includes(COMPONENTS[component].role))
}

const BUS_ROLES: readonly string[] = ['collector', 'bridge', 'stream etl', 'stream score', 'agent']
