/** Where back ends keep what they download and what they run with, and which ports they take. All of it can be moved by environment variables. */
import { homedir } from 'node:os'
import { join } from 'node:path'

const env = process.env

export const CACHE_DIR = env['BACKENDS_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'logpipeline-backends')
/** Under no one's home: OpenSearch runs as a user of its own when this is root. */
export const RUN_DIR = env['BACKENDS_RUN'] ?? '/tmp/logpipeline-backends'

/** Where they listen: loopback, or an address that only exists in a network namespace. */
export const HOST = env['BACKENDS_HOST'] ?? '127.0.0.1'

function port(name: string, fallback: number): number {
  const value = Number(env[name] ?? fallback)
  if (!Number.isInteger(value) || value < 1 || value > 65_000) throw new Error(`${name}: expected a port number, got ${env[name]}`)
  return value
}

/** First of the ports of each back end. */
export const PORTS = {
  /** Broker; +20 SASL_SSL, +21 SASL_PLAINTEXT, +30 controller. */
  kafka: port('BACKENDS_KAFKA_PORT', 29_092),
  /** Brokers +0, +1, +2; controllers +30, +31, +32. */
  'kafka-3': port('BACKENDS_KAFKA3_PORT', 29_192),
  /** HTTP; +100 transport. */
  opensearch: port('BACKENDS_OPENSEARCH_PORT', 29_400),
  /** API server; the others keep their usual distance to it: etcd −4064 and −4063, controller manager +3814, scheduler +3816. */
  kubernetes: port('BACKENDS_KUBERNETES_PORT', 16_443),
  /** API server; all others are in a network namespace. */
  'kubernetes-node': port('BACKENDS_KUBERNETES_NODE_PORT', 16_444),
  redis: port('BACKENDS_REDIS_PORT', 29_379),
} as const
