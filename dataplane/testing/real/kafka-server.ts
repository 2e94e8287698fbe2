/** A real Kafka on this machine (KRaft, no ZooKeeper): one broker that also has SASL and TLS listeners, or a cluster of three. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { containerServer, pullImage, removeNetwork } from './container.ts'
import { findJava, runMaven } from './java.ts'
import { makeCertificates } from './kafka-certificates.ts'
import { type BrokerCluster, brokerContainer, containerLayout, KAFKA_CLUSTER_ID } from './kafka-container.ts'
import { BROKER_LOG4J, type BrokerLayout, brokerSettings, scramUsers } from './kafka-settings.ts'
import { CACHE_DIR, HOST, PORTS, RUN_DIR } from './place.ts'
import { runProgram } from './run-program.ts'
import { type Server, waitUntilReady } from './server.ts'
import { expectFreePort, launch, processServer } from './server-process.ts'
import { backendsVia } from './via.ts'

const VERSION = process.env['BACKENDS_KAFKA_VERSION'] ?? '4.1.1'
const LIB = join(CACHE_DIR, `kafka-${VERSION}`)
const MAX_HEAP = process.env['BACKENDS_KAFKA_HEAP'] ?? '384m'
const READY_TIMEOUT_MS = 120_000

export type KafkaName = 'kafka' | 'kafka-3'
const BROKERS: Readonly<Record<KafkaName, number>> = { kafka: 1, 'kafka-3': 3 }

/** Users of the one-broker Kafka's SASL listeners. */
export const KAFKA_USER = { username: 'logpipeline', password: 'logpipeline-secret' } as const

const dirOf = (name: KafkaName) => join(RUN_DIR, name)
const idsOf = (name: KafkaName) => Array.from({ length: BROKERS[name] }, (_, i) => i + 1)
const portOf = (name: KafkaName, id: number) => PORTS[name] + id - 1
const PORT_SETTINGS: Readonly<Record<KafkaName, string>> = { kafka: 'BACKENDS_KAFKA_PORT', 'kafka-3': 'BACKENDS_KAFKA3_PORT' }
const controllerPortOf = (name: KafkaName, id: number) => PORTS[name] + 29 + id
/** Its certificate authority's certificate, PEM. */
export const kafkaCaFile = () => join(dirOf('kafka'), 'ca.pem')
export const kafkaSecureAddresses = () => ({
  saslSsl: `${HOST}:${PORTS.kafka + 20}`,
  saslPlaintext: `${HOST}:${PORTS.kafka + 21}`,
})

export const kafkaAddress = (name: KafkaName) =>
  idsOf(name)
    .map(id => `${HOST}:${portOf(name, id)}`)
    .join(',')

const settingsFile = (name: KafkaName, id: number) => join(dirOf(name), `server-${id}.properties`)
const logFile = (name: KafkaName, id: number) => join(dirOf(name), `broker-${id}.log`)

function processOf(name: KafkaName, id: number) {
  return { pidFile: join(dirOf(name), `broker-${id}.pid`), logFile: logFile(name, id), mark: settingsFile(name, id) }
}

const clusterOf = (name: KafkaName): BrokerCluster => ({
  name: `logpipeline-${name}-${PORTS[name]}`,
  image: `apache/kafka:${VERSION}`,
  heap: MAX_HEAP,
  brokers: BROKERS[name],
  firstPort: PORTS[name],
  folder: dirOf(name),
  isSecure: name === 'kafka',
  user: KAFKA_USER,
})

const containerOf = (name: KafkaName, id: number) => containerServer(brokerContainer(clusterOf(name), id, logFile(name, id)))
const serverOf = (name: KafkaName, id: number): Server =>
  backendsVia() === 'docker' ? containerOf(name, id) : processServer(processOf(name, id))

/** A broker's process while it runs here. */
export const brokerPid = (name: KafkaName, id: number) => serverOf(name, id).pid()

export async function isKafkaUp(name: KafkaName): Promise<boolean> {
  for (const id of idsOf(name)) if (brokerPid(name, id) === undefined || !(await answers(name, id))) return false
  return true
}

/** Starts what is not running, on fresh data unless some of the brokers are; resolves once every broker is part of the cluster. */
export async function startKafka(name: KafkaName): Promise<void> {
  if (await isKafkaUp(name)) return
  if (backendsVia() === 'docker') pullImage(clusterOf(name).image)
  else {
    java() // what is missing shows before the download
    downloadJars()
  }
  if (idsOf(name).every(id => brokerPid(name, id) === undefined)) {
    await stopKafka(name)
    for (const port of portsOf(name)) await expectFreePort(port, PORT_SETTINGS[name])
    writeSettings(name)
    if (backendsVia() === 'archives') format(name)
  }
  for (const id of idsOf(name)) if (brokerPid(name, id) === undefined) launchBroker(name, id)
  for (const id of idsOf(name)) await waitUntilReady(serverOf(name, id), () => answers(name, id), READY_TIMEOUT_MS)
}

/** Those that this machine listens on. */
function portsOf(name: KafkaName): readonly number[] {
  if (backendsVia() === 'docker') return idsOf(name).flatMap(id => brokerContainer(clusterOf(name), id, '').ports.map(([port]) => port))
  return idsOf(name).flatMap(id => [portOf(name, id), controllerPortOf(name, id)])
}

export async function stopKafka(name: KafkaName): Promise<void> {
  await Promise.all(idsOf(name).map(id => serverOf(name, id).stop()))
  if (backendsVia() === 'docker') {
    for (const id of idsOf(name)) containerOf(name, id).removeData()
    removeNetwork(clusterOf(name).name)
  }
  rmSync(dirOf(name), { recursive: true, force: true })
}

/** Ends one broker, its data stays: `SIGKILL` as a crash, `SIGTERM` in order. */
export async function stopBroker(name: KafkaName, id: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await serverOf(name, id).stop(signal)
}

/** Starts a broker that was stopped again, on its data. */
export async function restartBroker(name: KafkaName, id: number): Promise<void> {
  launchBroker(name, id)
  await waitUntilReady(serverOf(name, id), () => answers(name, id), READY_TIMEOUT_MS)
}

/** Stops a broker's process in its tracks, as a machine that hangs. */
export const freezeBroker = (name: KafkaName, id: number) => serverOf(name, id).freeze()

/** Lets it go on. */
export const thawBroker = (name: KafkaName, id: number) => serverOf(name, id).thaw()

function launchBroker(name: KafkaName, id: number): void {
  if (backendsVia() === 'docker') return void containerOf(name, id).launch()
  const heap = ['-Xms128m', `-Xmx${MAX_HEAP}`, '-XX:+UseSerialGC']
  launch({ ...processOf(name, id), command: [java(), ...heap, ...javaArgs(name), 'kafka.Kafka', settingsFile(name, id)] })
}

const java = () => join(findJava(17, 'BACKENDS_KAFKA_JAVA_HOME'), 'bin/java')
const javaArgs = (name: KafkaName) => [`-Dlog4j2.configurationFile=${join(dirOf(name), 'log4j2.properties')}`, '-cp', `${LIB}/*`]

/** About 90 jars, 54 MB. The binding goes with the slf4j 1.7 that Kafka brings: the one for slf4j 2 leaves a broker without a log. */
function downloadJars(): void {
  if (existsSync(join(LIB, 'complete'))) return
  const dir = mkdtempSync(join(tmpdir(), 'kafka-jars-'))
  const dependency = (group: string, artifact: string, version: string) =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
  writeFileSync(
    join(dir, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>logpipeline</groupId><artifactId>kafka</artifactId><version>1</version><dependencies>
${dependency('org.apache.kafka', 'kafka_2.13', VERSION)}
${dependency('org.apache.kafka', 'kafka-tools', VERSION)}
${dependency('org.apache.logging.log4j', 'log4j-slf4j-impl', '2.24.3')}
${dependency('org.apache.logging.log4j', 'log4j-core', '2.24.3')}
</dependencies></project>`,
  )
  mkdirSync(LIB, { recursive: true })
  runMaven(
    ['-f', join(dir, 'pom.xml'), 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${LIB}`],
    `Kafka ${VERSION}`,
  )
  rmSync(dir, { recursive: true })
  writeFileSync(join(LIB, 'complete'), '')
}

/** The settings of a broker that runs as a process. */
function processLayout(name: KafkaName, id: number): BrokerLayout {
  const plain = `PLAINTEXT://${HOST}:${portOf(name, id)}`
  const { saslSsl, saslPlaintext } = kafkaSecureAddresses()
  const isSecure = name === 'kafka'
  const listeners = isSecure ? [plain, `SASL_SSL://${saslSsl}`, `SASL_PLAINTEXT://${saslPlaintext}`] : [plain]
  return {
    id,
    brokers: BROKERS[name],
    listeners,
    advertised: listeners,
    interBroker: 'PLAINTEXT',
    controller: `CONTROLLER://${HOST}:${controllerPortOf(name, id)}`,
    voters: idsOf(name).map(other => `${other}@${HOST}:${controllerPortOf(name, other)}`),
    dataDir: join(dirOf(name), `data-${id}`),
    user: KAFKA_USER,
    ...(isSecure ? { keystore: join(dirOf(name), 'keystore.pem') } : {}),
  }
}

const layoutOf = (name: KafkaName, id: number) =>
  backendsVia() === 'docker' ? containerLayout(clusterOf(name), id) : processLayout(name, id)

function writeSettings(name: KafkaName): void {
  const dir = dirOf(name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'log4j2.properties'), BROKER_LOG4J)
  if (name === 'kafka') makeCertificates(dir)
  for (const id of idsOf(name)) writeFileSync(settingsFile(name, id), brokerSettings(layoutOf(name, id)))
}

/** Formats the storage of every broker. */
function format(name: KafkaName): void {
  for (const id of idsOf(name)) {
    const what = ['-t', KAFKA_CLUSTER_ID, '-c', settingsFile(name, id), ...scramUsers(layoutOf(name, id))]
    runProgram(java(), ['-Xmx128m', ...javaArgs(name), 'kafka.tools.StorageTool', 'format', ...what])
  }
}

/** Whether the broker says in its log that it has started (in this life) and answers a request: a port that accepts is not enough. */
async function answers(name: KafkaName, id: number): Promise<boolean> {
  const log = logFile(name, id)
  if (!existsSync(log) || !readFileSync(log, 'utf8').includes('Kafka Server started')) return false
  return new Promise(resolve => {
    const socket = connect(portOf(name, id), HOST)
    const finish = (isUp: boolean) => {
      socket.destroy()
      resolve(isUp)
    }
    socket.setTimeout(2000, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('data', () => finish(true))
    socket.write(API_VERSIONS_REQUEST)
  })
}

/** ApiVersions version 0: length, api key 18, version 0, correlation id 1, no client id. */
const API_VERSIONS_REQUEST = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff])
