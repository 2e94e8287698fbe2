/** The objects of the cluster that count for one pipeline, as they were read. */
import type { ObjectReference } from '../../dataplane/kube/object.ts'
import type { Component } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { OptionalKindName } from '../api/used-kinds.ts'
import type { Problem } from './finding.ts'
import type { Autoscaler, DisruptionBudget, ExternalSecret, KafkaTopic, Pod, Secret, StrimziKafka, Workload } from './foreign-kinds.ts'
import type { Sharer } from './shared-topics.ts'

/** The objects from which references to Secrets are resolved. */
export interface SecretsRead {
  /** By name, of those that are referred to (`wantedSecrets`); absent when not found. */
  readonly secrets: Readonly<Record<string, Secret>>
  /**
   * Why Secrets that are there could not be read, by name. `SecretNotRead`: the API server did not answer. `Forbidden`: the operator lacks a right.
   * A Secret that is in `secrets`, too, is as it was read last.
   */
  readonly unreadSecrets?: Readonly<Record<string, Problem>>
  /** By name, likewise. */
  readonly externalSecrets: Readonly<Record<string, ExternalSecret>>
  /** Optional APIs of the cluster: `Kind.group` (such as `KafkaTopic.kafka.strimzi.io`) to the served version. */
  readonly servedApis: Readonly<Partial<Record<OptionalKindName, string>>>
}

/** The routes of a namespace, and what they are judged by. */
export interface RoutesRead extends SecretsRead {
  readonly routes: readonly TicketingRoute[]
}

/** Everything that was read for one pipeline, as one value. */
export interface Gathered extends RoutesRead {
  readonly pipeline: LogPipeline
  /** The Kafka of Strimzi that `spec.bus.strimzi` names. */
  readonly kafka?: StrimziKafka
  /** KafkaTopics of the namespace that carry the pipeline's labels. */
  readonly topics: readonly KafkaTopic[]
  /** Other pipelines that use the same topics of the same Kafka. */
  readonly sharers: readonly Sharer[]
  /** Deployments and the StatefulSet of the pipeline that are there. */
  readonly workloads: Readonly<Partial<Record<Component, Workload>>>
  /** When the operator changed the StatefulSet last, in ms since the epoch; absent without one, and where nothing tells. */
  readonly appliedMs?: number
  /** Autoscalers of the pipeline that are there. */
  readonly autoscalers: Readonly<Partial<Record<Component, Autoscaler>>>
  /** PodDisruptionBudgets of the pipeline that are there, and those of others in its namespace. */
  readonly budgets: readonly DisruptionBudget[]
  readonly otherBudgets: readonly DisruptionBudget[]
  /** Pods of the pipeline, told apart by their label `app.kubernetes.io/component`. */
  readonly pods: readonly Pod[]
  /** Whether the Secret is there that the operator makes for ticketing (`encryptionKeyName`). */
  readonly hasEncryptionKey: boolean
  /** Connections as a pod that stays unready tells them: a bridge, else another component that speaks to the bus. */
  readonly bridgeHealth?: { readonly component: Component; readonly bus?: string; readonly search?: string }
  /** Objects that could not be applied or removed the last time. */
  readonly problems: readonly (Problem & { readonly object: ObjectReference })[]
}

/** Looks a name from users up: it may be that of a member of every object (`constructor`). */
export function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

export function isServed({ servedApis }: Pick<SecretsRead, 'servedApis'>, kind: OptionalKindName): boolean {
  return servedApis[kind] !== undefined
}

/** `group/version` of an optional kind; undefined when the cluster does not have it. */
export function servedApiVersion({ servedApis }: Pick<SecretsRead, 'servedApis'>, kind: OptionalKindName): string | undefined {
  const version = servedApis[kind]
  return version === undefined ? undefined : `${kind.slice(kind.indexOf('.') + 1)}/${version}`
}
