/** The result of gathering in a cluster that holds certain objects. For tests. */

import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import type { Component } from '../../api/components.ts'
import { LOG_PIPELINE_KIND, type LogPipeline } from '../../api/log-pipeline.ts'
import { admit } from '../../api/testing/admission.ts'
import { TICKETING_ROUTE_KIND, type TicketingRoute } from '../../api/ticketing-route.ts'
import type { Autoscaler, DisruptionBudget, ExternalSecret, KafkaTopic, Pod, Secret, StrimziKafka, Workload } from '../foreign-kinds.ts'
import type { Gathered } from '../gathered.ts'

export const ALL_SERVED: Gathered['servedApis'] = {
  'ExternalSecret.external-secrets.io': 'v1',
  'Kafka.kafka.strimzi.io': 'v1beta2',
  'KafkaTopic.kafka.strimzi.io': 'v1beta2',
  'ScaledObject.keda.sh': 'v1alpha1',
  'TriggerAuthentication.keda.sh': 'v1alpha1',
  'ServiceMonitor.monitoring.coreos.com': 'v1',
  'PrometheusRule.monitoring.coreos.com': 'v1',
}

/** Takes exactly one LogPipeline; it and the routes get their defaults, and have to be what the CRD takes. */
export function gatheredFrom(objects: readonly KubernetesObject[], others: Partial<Gathered> = {}): Gathered {
  const ofKind = <T extends KubernetesObject>(kind: string) => objects.filter(object => object.kind === kind) as T[]
  const [pipeline] = ofKind<LogPipeline>(LOG_PIPELINE_KIND)
  const [kafka] = ofKind<StrimziKafka>('Kafka')
  return {
    pipeline: admitted<LogPipeline>(pipeline!),
    routes: ofKind<TicketingRoute>(TICKETING_ROUTE_KIND).map(route => admitted<TicketingRoute>(route)),
    secrets: byName(ofKind<Secret>('Secret')),
    externalSecrets: byName(ofKind<ExternalSecret>('ExternalSecret')),
    ...(kafka === undefined ? {} : { kafka }),
    sharers: [],
    hasEncryptionKey: true,
    topics: ofKind<KafkaTopic>('KafkaTopic'),
    workloads: Object.fromEntries(
      [...ofKind<Workload>('Deployment'), ...ofKind<Workload>('StatefulSet')].map(one => [componentOf(one), one]),
    ),
    autoscalers: Object.fromEntries(
      [...ofKind<Autoscaler>('HorizontalPodAutoscaler'), ...ofKind<Autoscaler>('ScaledObject')].map(one => [componentOf(one), one]),
    ),
    budgets: ofKind<DisruptionBudget>('PodDisruptionBudget').filter(({ metadata }) => metadata.labels !== undefined),
    otherBudgets: ofKind<DisruptionBudget>('PodDisruptionBudget').filter(({ metadata }) => metadata.labels === undefined),
    pods: ofKind<Pod>('Pod'),
    servedApis: ALL_SERVED,
    problems: [],
    ...others,
  }
}

function admitted<T extends KubernetesObject>(given: KubernetesObject): T {
  const { object, problems } = admit<T>(given.kind, given)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return object
}

function componentOf({ metadata }: KubernetesObject): Component {
  return metadata.labels?.['app.kubernetes.io/component'] as Component
}

function byName<T extends KubernetesObject>(objects: readonly T[]): Readonly<Record<string, T>> {
  return Object.fromEntries(objects.map(object => [object.metadata.name, object]))
}
