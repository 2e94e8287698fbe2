import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { freePort } from '../free-port.ts'
import { runArguments } from './container.ts'
import { type BrokerCluster, brokerContainer, containerLayout } from './kafka-container.ts'
import { brokerSettings } from './kafka-settings.ts'
import { OPENSEARCH_CONTAINER } from './opensearch-server.ts'
import { REDIS_CONTAINER } from './redis-server.ts'

const BACKENDS = resolve(import.meta.dirname, '../../../hack/backends')

/** Writes down how it is called; `info` says what the test wants, and what it "runs" is a server that answers as Redis does. */
const FAKE_DOCKER = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { spawn } = require('node:child_process')
const dir = process.env.FAKE_DOCKER_DIR
const [command, ...rest] = process.argv.slice(2)
appendFileSync(dir + '/calls', JSON.stringify(process.argv.slice(2)) + '\\n')
const pid = () => (existsSync(dir + '/pid') ? readFileSync(dir + '/pid', 'utf8') : undefined)
const fail = text => { console.error(text); process.exit(1) }
if (command === 'info' && process.env.FAKE_DOCKER_INFO !== 'ok') fail('Cannot connect to the Docker daemon')
if (command === 'image') process.exit(1)
if (command === 'pull' && process.env.FAKE_DOCKER_PULL === 'fails') fail('no such host')
if (command === 'run') {
  const [, host, port] = /(.+):(\\d+):\\d+/.exec(rest[rest.indexOf('-p') + 1])
  const program = "require('node:net').createServer(s => s.on('error', () => {}).on('data', () => s.write('+PONG\\\\r\\\\n'))).listen(" + port + ", '" + host + "')"
  const server = spawn(process.execPath, ['-e', program], { detached: true, stdio: 'ignore' })
  server.unref()
  writeFileSync(dir + '/pid', String(server.pid))
}
if (command === 'container') { if (pid() === undefined) fail('No such container'); console.log(pid()) }
if (command === 'stop') { process.kill(Number(pid())); rmSync(dir + '/pid') }
`

describe('hack/backends where Docker is there', function () {
  this.timeout(20_000)
  const dir = mkdtempSync(join(tmpdir(), 'fake-docker-'))
  let port = 0
  before(async () => {
    writeFileSync(join(dir, 'docker'), FAKE_DOCKER)
    chmodSync(join(dir, 'docker'), 0o755)
    port = await freePort()
  })
  after(() => {
    if (existsSync(join(dir, 'pid'))) process.kill(Number(readFileSync(join(dir, 'pid'), 'utf8')))
    rmSync(dir, { recursive: true })
  })

  const backends = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    rmSync(join(dir, 'calls'), { force: true })
    const own = { BACKENDS_RUN: join(dir, 'run'), BACKENDS_REDIS_PORT: String(port), FAKE_DOCKER_DIR: dir, FAKE_DOCKER_INFO: 'ok' }
    const { status, stdout, stderr } = spawnSync(BACKENDS, args, {
      encoding: 'utf8',
      env: { PATH: `${dir}:${process.env['PATH']}`, HOME: dir, ...own, ...env },
    })
    const calls = existsSync(join(dir, 'calls')) ? readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n') : []
    return { status, stdout, stderr, calls: calls.map(line => (JSON.parse(line) as string[]).join(' ')) }
  }

  it('fetches the official image and runs it, on loopback alone, until it is told to end', () => {
    const up = backends(['up', 'redis'])
    expect(up.stderr).to.equal('')
    expect([up.status, up.stdout]).to.deep.equal([0, `redis redis://127.0.0.1:${port}\n`])
    const name = `logpipeline-redis-${port}`
    expect(up.calls).to.include('pull --quiet valkey/valkey:8.1.4')
    expect(up.calls).to.include(
      `run --rm -d --name ${name} --hostname ${name} -p 127.0.0.1:${port}:6379 valkey/valkey:8.1.4 valkey-server --save  --appendonly no`,
    )
    expect(backends(['status', 'redis']).stdout).to.equal(`redis up redis://127.0.0.1:${port}\n`)
    expect(backends(['up', 'redis']).calls.filter(call => call.startsWith('run'))).to.deep.equal([])
    const down = backends(['down', 'redis'])
    expect([down.status, down.calls.includes(`stop -t 20 ${name}`)]).to.deep.equal([0, true])
    expect(backends(['status', 'redis']).stdout).to.equal('redis down\n')
  })

  it('BACKENDS_VIA=archives leaves Docker alone', () => {
    expect(backends(['status', 'redis'], { BACKENDS_VIA: 'archives' }).calls).to.deep.equal([])
  })

  it('archives are the way where `docker info` fails; BACKENDS_VIA=docker then says why it cannot be', () => {
    expect(backends(['status', 'redis'], { FAKE_DOCKER_INFO: 'down' }).calls).to.deep.equal(['info'])
    const up = backends(['up', 'redis'], { FAKE_DOCKER_INFO: 'down', BACKENDS_VIA: 'docker' })
    expect([up.status, up.stderr]).to.deep.equal([
      69,
      'redis: BACKENDS_VIA is docker, but Docker does not work here: Cannot connect to the Docker daemon\n',
    ])
  })

  it('an image that cannot be fetched is a reason to skip what needs it', () => {
    const up = backends(['up', 'redis'], { FAKE_DOCKER_PULL: 'fails' })
    expect([up.status, up.stderr]).to.deep.equal([69, 'redis: image valkey/valkey:8.1.4 cannot be fetched: no such host\n'])
  })

  it('refuses another BACKENDS_VIA', () => {
    expect(backends(['up', 'redis'], { BACKENDS_VIA: 'podman' }).stderr).to.contain('BACKENDS_VIA: expected docker or archives, got podman')
  })
})

describe('what Docker is told', () => {
  const cluster: BrokerCluster = {
    name: 'cluster',
    image: 'apache/kafka:4.1.1',
    heap: '384m',
    brokers: 1,
    firstPort: 29_092,
    folder: '/run/kafka',
    isSecure: true,
    user: { username: 'u', password: 'p' },
  }

  it('OpenSearch: one node without the security plugin, its data in a volume', () => {
    const args = runArguments(OPENSEARCH_CONTAINER).join(' ')
    expect(args).to.match(/^run --rm -d --name logpipeline-opensearch-\d+ .* opensearchproject\/opensearch:3\.5\.0$/)
    for (const part of ['-p 127.0.0.1:', '-e discovery.type=single-node', '-e DISABLE_SECURITY_PLUGIN=true', ':/usr/share/opensearch/data'])
      expect(args).to.contain(part)
    expect(args).to.match(/-e OPENSEARCH_JAVA_OPTS=-Xms(\d+m) -Xmx\1/)
  })

  it('Redis: without persistence', () => {
    expect(runArguments(REDIS_CONTAINER).slice(-5)).to.deep.equal(['valkey-server', '--save', '', '--appendonly', 'no'])
  })

  it('Kafka: formats its storage with the SCRAM users, and runs with the same settings as from the archives', () => {
    const args = runArguments(brokerContainer(cluster, 1, 'log'))
    expect(args.slice(0, -3).join(' ')).to.equal(
      'run --rm -d --name cluster-1 --hostname cluster-1 --network cluster' +
        ' -p 127.0.0.1:29092:29092 -p 127.0.0.1:29112:29112 -p 127.0.0.1:29113:29113' +
        ' -e KAFKA_HEAP_OPTS=-Xms128m -Xmx384m -e KAFKA_LOG4J_OPTS=-Dlog4j2.configurationFile=/mnt/logpipeline/log4j2.properties' +
        ' -v cluster-1:/var/lib/kafka/data -v /run/kafka:/mnt/logpipeline:ro --entrypoint sh',
    )
    expect(args.slice(-3)).to.deep.equal([
      'apache/kafka:4.1.1',
      '-c',
      '/opt/kafka/bin/kafka-storage.sh format --ignore-formatted -t bG9ncGlwZWxpbmUtMDAwMQ -c /mnt/logpipeline/server-1.properties' +
        " '--add-scram' 'SCRAM-SHA-256=[name=u,password=p]' '--add-scram' 'SCRAM-SHA-512=[name=u,password=p]'" +
        ' && exec /opt/kafka/bin/kafka-server-start.sh /mnt/logpipeline/server-1.properties',
    ])
  })

  it('Kafka: listens for this machine and for the other brokers', () => {
    const settings = brokerSettings(containerLayout({ ...cluster, brokers: 3, firstPort: 29_192, isSecure: false }, 2))
    for (const line of [
      'controller.quorum.voters=1@cluster-1:9093,2@cluster-2:9093,3@cluster-3:9093',
      'listeners=PLAINTEXT://0.0.0.0:29193,BROKER://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093',
      'advertised.listeners=PLAINTEXT://127.0.0.1:29193,BROKER://cluster-2:9092',
      'inter.broker.listener.name=BROKER',
      'min.insync.replicas=2',
    ])
      expect(settings.split('\n')).to.include(line)
    const secure = brokerSettings(containerLayout(cluster, 1))
    expect(secure).to.contain('listeners=PLAINTEXT://0.0.0.0:29092,SASL_SSL://0.0.0.0:29112,SASL_PLAINTEXT://0.0.0.0:29113,')
    expect(secure).to.contain('ssl.keystore.location=/mnt/logpipeline/keystore.pem')
  })
})
