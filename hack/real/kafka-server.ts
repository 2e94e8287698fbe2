/** A real Kafka on this machine (KRaft, no ZooKeeper): one broker that also has SASL and TLS listeners, or a cluster of three. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findJava, runMaven } from './java.ts'
import { CACHE_DIR, HOST, PORTS, RUN_DIR } from './place.ts'
import { expectFreePort, freezeProcess, launch, pidOf, stopProcess, thawProcess, waitUntilReady } from './server-process.ts'

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
const portsOf = (name: KafkaName, id: number) => [portOf(name, id), controllerPortOf(name, id)]
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

function processOf(name: KafkaName, id: number) {
  const dir = dirOf(name)
  return { pidFile: join(dir, `broker-${id}.pid`), logFile: join(dir, `broker-${id}.log`), mark: join(dir, `server-${id}.properties`) }
}

/** A broker's process while it runs here. */
export const brokerPid = (name: KafkaName, id: number) => pidOf(processOf(name, id))

export async function isKafkaUp(name: KafkaName): Promise<boolean> {
  for (const id of idsOf(name)) if (pidOf(processOf(name, id)) === undefined || !(await answers(name, id))) return false
  return true
}

/** Starts what is not running, on fresh data unless some of the brokers are; resolves once every broker is part of the cluster. */
export async function startKafka(name: KafkaName): Promise<void> {
  if (await isKafkaUp(name)) return
  const java = join(findJava(17, 'BACKENDS_KAFKA_JAVA_HOME'), 'bin/java')
  downloadJars()
  if (idsOf(name).every(id => pidOf(processOf(name, id)) === undefined)) {
    for (const id of idsOf(name)) for (const port of portsOf(name, id)) await expectFreePort(port, PORT_SETTINGS[name])
    format(name, java)
  }
  for (const id of idsOf(name)) if (pidOf(processOf(name, id)) === undefined) launchBroker(name, id, java)
  for (const id of idsOf(name)) await waitUntilReady(processOf(name, id), () => answers(name, id), READY_TIMEOUT_MS)
}

export async function stopKafka(name: KafkaName): Promise<void> {
  await Promise.all(idsOf(name).map(id => stopProcess(processOf(name, id))))
  rmSync(dirOf(name), { recursive: true, force: true })
}

/** Ends one broker, its data stays: `SIGKILL` as a crash, `SIGTERM` in order. */
export async function stopBroker(name: KafkaName, id: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await stopProcess(processOf(name, id), signal)
}

/** Starts a broker that was stopped again, on its data. */
export async function restartBroker(name: KafkaName, id: number): Promise<void> {
  launchBroker(name, id, join(findJava(17, 'BACKENDS_KAFKA_JAVA_HOME'), 'bin/java'))
  await waitUntilReady(processOf(name, id), () => answers(name, id), READY_TIMEOUT_MS)
}

/** Stops a broker's process in its tracks, as a machine that hangs. */
export const freezeBroker = (name: KafkaName, id: number) => freezeProcess(processOf(name, id))

/** Lets it go on. */
export const thawBroker = (name: KafkaName, id: number) => thawProcess(processOf(name, id))

function launchBroker(name: KafkaName, id: number, java: string): void {
  const server = processOf(name, id)
  const heap = ['-Xms128m', `-Xmx${MAX_HEAP}`, '-XX:+UseSerialGC']
  launch({ ...server, command: [java, ...heap, ...javaArgs(name), 'kafka.Kafka', server.mark] })
}

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

/** Writes the settings of every broker and formats its storage. */
function format(name: KafkaName, java: string): void {
  const dir = dirOf(name)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'log4j2.properties'), LOG4J)
  const isSecure = name === 'kafka'
  if (isSecure) makeCertificates(dir)
  const clusterId = run(java, [...javaArgs(name), 'kafka.tools.StorageTool', 'random-uuid'])
    .trim()
    .split('\n')
    .at(-1)!
  for (const id of idsOf(name)) {
    const settings = processOf(name, id).mark
    writeFileSync(settings, brokerSettings(name, id, isSecure))
    const users = isSecure ? SCRAM_MECHANISMS.flatMap(mechanism => ['--add-scram', scramUser(mechanism)]) : []
    run(java, ['-Xmx128m', ...javaArgs(name), 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings, ...users])
  }
}

const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const
const scramUser = (mechanism: string) => `${mechanism}=[name=${KAFKA_USER.username},password=${KAFKA_USER.password}]`

function brokerSettings(name: KafkaName, id: number, isSecure: boolean): string {
  const ids = idsOf(name)
  const replicas = ids.length
  const inSync = replicas === 1 ? 1 : 2
  const plain = `PLAINTEXT://${HOST}:${portOf(name, id)}`
  const { saslSsl, saslPlaintext } = kafkaSecureAddresses()
  const listeners = isSecure ? `${plain},SASL_SSL://${saslSsl},SASL_PLAINTEXT://${saslPlaintext}` : plain
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${ids.map(other => `${other}@${HOST}:${controllerPortOf(name, other)}`).join(',')}
listeners=${listeners},CONTROLLER://${HOST}:${controllerPortOf(name, id)}
advertised.listeners=${listeners}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
log.dirs=${join(dirOf(name), `data-${id}`)}
default.replication.factor=${replicas}
min.insync.replicas=${inSync}
offsets.topic.replication.factor=${replicas}
offsets.topic.num.partitions=5
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${inSync}
transaction.state.log.num.partitions=5
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${inSync}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=6000
log.segment.bytes=67108864
${isSecure ? secureSettings() : ''}`
}

function secureSettings(): string {
  const { username, password } = KAFKA_USER
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
  return ['sasl_ssl', 'sasl_plaintext']
    .flatMap(listener => [
      `listener.name.${listener}.sasl.enabled.mechanisms=PLAIN,${SCRAM_MECHANISMS.join(',')}`,
      `listener.name.${listener}.plain.sasl.jaas.config=${plain}`,
      ...SCRAM_MECHANISMS.map(mechanism => `listener.name.${listener}.${mechanism.toLowerCase()}.sasl.jaas.config=${scram}`),
    ])
    .concat('ssl.keystore.type=PEM', `ssl.keystore.location=${join(dirOf('kafka'), 'keystore.pem')}`)
    .join('\n')
}

/** An authority and a certificate for `HOST` and localhost, signed by it. */
function makeCertificates(dir: string): void {
  const path = (file: string) => join(dir, file)
  const openssl = (...args: string[]) => run('openssl', args)
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '30',
    '-subj',
    '/CN=logpipeline test authority',
    '-keyout',
    path('ca.key'),
    '-out',
    path('ca.pem'),
  )
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', path('server.key'), '-out', path('server.csr'))
  writeFileSync(path('server.ext'), `subjectAltName=DNS:localhost,IP:${HOST}\n`)
  openssl(
    'x509',
    '-req',
    '-in',
    path('server.csr'),
    '-CA',
    path('ca.pem'),
    '-CAkey',
    path('ca.key'),
    '-CAcreateserial',
    '-days',
    '30',
    '-extfile',
    path('server.ext'),
    '-out',
    path('server.pem'),
  )
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', path('server.key'), '-out', path('server.pk8'))
  writeFileSync(path('keystore.pem'), ['server.pk8', 'server.pem', 'ca.pem'].map(file => readFileSync(path(file), 'utf8')).join(''))
}

function run(program: string, args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (error !== undefined || status !== 0) throw new Error(`${program} ${args.at(-1)}: ${error?.message ?? `${stdout}${stderr}`.trim()}`)
  return stdout
}

/** Whether the broker says in its log that it has started (in this life) and answers a request: a port that accepts is not enough. */
async function answers(name: KafkaName, id: number): Promise<boolean> {
  const { logFile } = processOf(name, id)
  if (!existsSync(logFile) || !readFileSync(logFile, 'utf8').includes('Kafka Server started')) return false
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

const LOG4J = `rootLogger.level=WARN
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=[%d] %p %m (%c)%n
logger.s.name=kafka.server.KafkaRaftServer
logger.s.level=INFO
`
