/** The table of back ends that suites may need. */
import { isKafkaUp, kafkaAddress, startKafka, stopKafka } from './kafka-server.ts'
import { isKubernetesUp, kubernetesAddress, startKubernetes, stopKubernetes } from './kubernetes-server.ts'
import { isOpenSearchUp, openSearchAddress, startOpenSearch, stopOpenSearch } from './opensearch-server.ts'
import { isRedisUp, redisAddress, startRedis, stopRedis } from './redis-server.ts'

export interface Backend {
  readonly what: string
  /** How clients reach it. */
  address(): string
  /** Whether it runs and answers. */
  isUp(): Promise<boolean>
  /** Starts what is missing, resolves once it answers; rejects with `Unavailable` where this machine cannot run it. */
  start(): Promise<void>
  /** Stops it and deletes its data. */
  stop(): Promise<void>
}

export const BACKENDS = {
  kafka: {
    what: 'Kafka, one broker, also with SASL and TLS listeners',
    address: () => kafkaAddress('kafka'),
    isUp: () => isKafkaUp('kafka'),
    start: () => startKafka('kafka'),
    stop: () => stopKafka('kafka'),
  },
  'kafka-3': {
    what: 'Kafka, three brokers',
    address: () => kafkaAddress('kafka-3'),
    isUp: () => isKafkaUp('kafka-3'),
    start: () => startKafka('kafka-3'),
    stop: () => stopKafka('kafka-3'),
  },
  opensearch: {
    what: 'OpenSearch, one node',
    address: openSearchAddress,
    isUp: isOpenSearchUp,
    start: startOpenSearch,
    stop: stopOpenSearch,
  },
  kubernetes: {
    what: 'Kubernetes, the control plane alone (kubeconfig)',
    address: () => kubernetesAddress('kubernetes'),
    isUp: () => isKubernetesUp('kubernetes'),
    start: () => startKubernetes('kubernetes'),
    stop: () => stopKubernetes('kubernetes'),
  },
  'kubernetes-node': {
    what: 'Kubernetes, one node that runs pods (kubeconfig)',
    address: () => kubernetesAddress('kubernetes-node'),
    isUp: () => isKubernetesUp('kubernetes-node'),
    start: () => startKubernetes('kubernetes-node'),
    stop: () => stopKubernetes('kubernetes-node'),
  },
  redis: { what: 'Redis or Valkey', address: redisAddress, isUp: isRedisUp, start: startRedis, stop: stopRedis },
} as const satisfies Readonly<Record<string, Backend>>

export type BackendName = keyof typeof BACKENDS
export const BACKEND_NAMES = Object.keys(BACKENDS) as BackendName[]

export function isBackendName(name: string): name is BackendName {
  return (BACKEND_NAMES as readonly string[]).includes(name)
}
