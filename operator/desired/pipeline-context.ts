/** The argument of every builder, and the names and labels that builders share. */

import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import { TENANT_LABEL } from '../../dataplane/contract/tenant-id.ts'
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../dataplane/kube/object.ts'
import type { Component } from '../api/components.ts'
import { API_GROUP_VERSION, PRODUCT } from '../api/names.ts'
import type { BusConnection } from '../observed/bus-connection.ts'
import type { PipelineView } from '../observed/pipeline-view.ts'
import type { SecretValue } from '../observed/resolve-reference.ts'

/** Settings of the operator itself. */
export interface OperatorSettings {
  /** Image of the operator's own release, which components run when a pipeline names none. */
  readonly image: string
  /** Namespace of the operator's own pods; not known outside of a cluster. */
  readonly namespace?: string
}

/** The view, and what builders need beside it. */
export interface PipelineContext extends Omit<PipelineView, 'bus'> {
  readonly name: string
  readonly namespace: string
  readonly settings: OperatorSettings
  /** Values from Secrets, by setting; those that could not be found are absent. */
  readonly secrets: Readonly<Record<string, SecretValue>>
  /** Absent while the address is not known, and in mode AllInOne. */
  readonly bus: BusConnection | undefined
}

export function createPipelineContext(view: PipelineView, settings: OperatorSettings): PipelineContext {
  const { name, namespace = 'default' } = view.gathered.pipeline.metadata
  const values = view.references.flatMap(({ values = [] }) => values)
  const secrets = Object.fromEntries(values.map(value => [value.setting, value]))
  return { ...view, bus: view.bus?.connection, name, namespace, settings, secrets }
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
    'app.kubernetes.io/managed-by': OPERATOR_NAME,
    [TENANT_LABEL]: context.spec.tenant,
  }
}

/** Metadata of an object that is removed with its pipeline. */
export function metadataOf(context: PipelineContext, name: string, component?: Component): ObjectMeta {
  return { name, namespace: context.namespace, labels: labelsOf(context, component), ownerReferences: [ownerOf(context.gathered.pipeline)] }
}

function ownerOf({ kind, metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion: API_GROUP_VERSION, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** Address of a Service within the cluster. */
export function serviceHost({ namespace }: Pick<PipelineContext, 'namespace'>, service: string): string {
  return `${service}.${namespace}.svc`
}
