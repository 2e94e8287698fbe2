/** Kafka's brokers in containers: told the same as those that run as processes, but for where they listen and keep their data. */
import type { Container } from './container.ts'
import { type BrokerLayout, scramUsers } from './kafka-settings.ts'
import { HOST } from './place.ts'

/** Brokers that find each other by the names of their containers. */
export interface BrokerCluster {
  /** Name of the network; containers are named after the network. */
  readonly name: string
  readonly image: string
  /** Such as `384m`. */
  readonly heap: string
  readonly brokers: number
  /** Port of the first broker, on this machine and in its container; +20 SASL_SSL, +21 SASL_PLAINTEXT. */
  readonly firstPort: number
  /** Where the settings lie on this machine. */
  readonly folder: string
  readonly isSecure: boolean
  readonly user: BrokerLayout['user']
}

/** `logpipeline-0001` in base64, as 16 bytes have to be. */
export const KAFKA_CLUSTER_ID = 'bG9ncGlwZWxpbmUtMDAwMQ'
const SETTINGS_DIR = '/mnt/logpipeline'
const DATA_DIR = '/var/lib/kafka/data'
const BROKER_PORT = 9_092
const CONTROLLER_PORT = 9_093

const nameOf = ({ name }: BrokerCluster, id: number) => `${name}-${id}`
const portsOf = ({ firstPort, isSecure }: BrokerCluster, id: number) => {
  const port = firstPort + id - 1
  return { PLAINTEXT: port, ...(isSecure ? { SASL_SSL: port + 20, SASL_PLAINTEXT: port + 21 } : {}) }
}

export function containerLayout(cluster: BrokerCluster, id: number): BrokerLayout {
  const { brokers, isSecure, user } = cluster
  const outside = (host: string) => Object.entries(portsOf(cluster, id)).map(([listener, port]) => `${listener}://${host}:${port}`)
  return {
    id,
    brokers,
    listeners: [...outside('0.0.0.0'), `BROKER://0.0.0.0:${BROKER_PORT}`],
    advertised: [...outside(HOST), `BROKER://${nameOf(cluster, id)}:${BROKER_PORT}`],
    interBroker: 'BROKER',
    controller: `CONTROLLER://0.0.0.0:${CONTROLLER_PORT}`,
    voters: Array.from({ length: brokers }, (_, i) => `${i + 1}@${nameOf(cluster, i + 1)}:${CONTROLLER_PORT}`),
    dataDir: DATA_DIR,
    user,
    ...(isSecure ? { keystore: `${SETTINGS_DIR}/keystore.pem` } : {}),
  }
}

/** Formats its storage the first time, and runs. The image's own start knows neither our settings nor SCRAM users. */
export function brokerContainer(cluster: BrokerCluster, id: number, logFile: string): Container {
  const settings = `${SETTINGS_DIR}/server-${id}.properties`
  const users = scramUsers(containerLayout(cluster, id)).map(argument => `'${argument}'`)
  const format = ['/opt/kafka/bin/kafka-storage.sh format --ignore-formatted', '-t', KAFKA_CLUSTER_ID, '-c', settings, ...users].join(' ')
  return {
    name: nameOf(cluster, id),
    image: cluster.image,
    ports: Object.values(portsOf(cluster, id)).map(port => [port, port] as const),
    env: {
      KAFKA_HEAP_OPTS: `-Xms128m -Xmx${cluster.heap}`,
      KAFKA_LOG4J_OPTS: `-Dlog4j2.configurationFile=${SETTINGS_DIR}/log4j2.properties`,
    },
    dataDir: DATA_DIR,
    folders: { [cluster.folder]: SETTINGS_DIR },
    network: cluster.name,
    entrypoint: 'sh',
    command: ['-c', `${format} && exec /opt/kafka/bin/kafka-server-start.sh ${settings}`],
    logFile,
  }
}
