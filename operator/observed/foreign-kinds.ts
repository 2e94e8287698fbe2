/** Types of the objects that the operator reads, with the fields that it reads. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { LabelSelector } from '../api/component-specs.ts'

export interface Secret extends KubernetesObject {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>
  /** By key: bytes of a long value of which `data` holds no more than what stands for it. */
  readonly longValues?: Readonly<Record<string, number>>
}

/** `metav1.Condition`, and those of kinds that have fewer fields. */
export interface ForeignCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  /** RFC 3339. */
  readonly lastTransitionTime?: string
}

export interface ExternalSecret extends KubernetesObject {
  readonly spec?: { readonly target?: { readonly name?: string } }
  readonly status?: {
    readonly conditions?: readonly ForeignCondition[]
    readonly binding?: { readonly name?: string }
  }
}

/** `Kafka` of Strimzi. */
export interface StrimziKafka extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly ForeignCondition[]
    readonly listeners?: readonly StrimziListener[]
  }
}

export interface StrimziListener {
  readonly name?: string
  readonly bootstrapServers?: string
  /** PEM; there with TLS only. */
  readonly certificates?: readonly string[]
}

/** `KafkaTopic` of Strimzi. */
export interface KafkaTopic extends KubernetesObject {
  readonly spec?: { readonly topicName?: string }
  readonly status?: { readonly conditions?: readonly ForeignCondition[]; readonly observedGeneration?: number }
}

/** A HorizontalPodAutoscaler, or a ScaledObject of KEDA, of a component. */
export interface Autoscaler extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly ForeignCondition[] }
}

/** A PodDisruptionBudget. Of those that the operator makes the conditions that tell of trouble are read, of others what they select. */
export interface DisruptionBudget extends KubernetesObject {
  readonly spec?: { readonly selector?: LabelSelector }
  readonly status?: { readonly conditions?: readonly ForeignCondition[] }
}

/** Fields that Deployments and StatefulSets share. */
export interface Workload extends KubernetesObject {
  readonly spec?: {
    readonly replicas?: number
    /** Deployments alone can be paused. */
    readonly paused?: boolean
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly ForeignCondition[]
    /** StatefulSets alone have revisions. */
    readonly currentRevision?: string
    readonly updateRevision?: string
  }
}

export interface ContainerStatus {
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string }
  }
  readonly lastState?: {
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string }
  }
}

export interface Pod extends KubernetesObject {
  readonly spec?: { readonly schedulerName?: string }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly podIP?: string
    readonly conditions?: readonly ForeignCondition[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}
