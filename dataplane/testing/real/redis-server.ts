/** A real Redis (or Valkey) on this machine, without persistence. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Container, containerServer, pullImage } from './container.ts'
import { HOST, PORTS, RUN_DIR } from './place.ts'
import { type Server, waitUntilReady } from './server.ts'
import { expectFreePort, launch, processServer } from './server-process.ts'
import { Unavailable } from './unavailable.ts'
import { backendsVia } from './via.ts'

const DIR = join(RUN_DIR, 'redis')
const PROCESS = { pidFile: join(DIR, 'pid'), logFile: join(DIR, 'log'), mark: String(PORTS.redis) }
const NO_PERSISTENCE = ['--save', '', '--appendonly', 'no']
/** The same in a container, of the official image. */
export const REDIS_CONTAINER: Container = {
  name: `logpipeline-redis-${PORTS.redis}`,
  image: `valkey/valkey:${process.env['BACKENDS_VALKEY_VERSION'] ?? '8.1.4'}`,
  ports: [[PORTS.redis, 6_379]],
  command: ['valkey-server', ...NO_PERSISTENCE],
  logFile: PROCESS.logFile,
}
const container = containerServer(REDIS_CONTAINER)
const server = (): Server => (backendsVia() === 'docker' ? container : processServer(PROCESS))
const PROGRAMS = ['redis-server', 'valkey-server']
const READY_TIMEOUT_MS = 15_000

export const redisAddress = () => `redis://${HOST}:${PORTS.redis}`

export async function isRedisUp(): Promise<boolean> {
  return server().pid() !== undefined && (await answers())
}

export async function startRedis(): Promise<void> {
  if (await isRedisUp()) return
  const start = backendsVia() === 'docker' ? prepareContainer() : prepareProcess()
  if (server().pid() === undefined) {
    await expectFreePort(PORTS.redis, 'BACKENDS_REDIS_PORT')
    start()
  }
  await waitUntilReady(server(), answers, READY_TIMEOUT_MS)
}

function prepareContainer(): () => void {
  pullImage(REDIS_CONTAINER.image)
  return () => container.launch()
}

function prepareProcess(): () => void {
  const program = PROGRAMS.find(name => spawnSync(name, ['--version']).error === undefined)
  if (program === undefined)
    throw new Unavailable('neither redis-server nor valkey-server is installed (Debian: apt-get install redis-server)')
  return () => launch({ ...PROCESS, command: [program, '--bind', HOST, '--port', String(PORTS.redis), ...NO_PERSISTENCE] })
}

export async function stopRedis(): Promise<void> {
  await server().stop()
  rmSync(DIR, { recursive: true, force: true })
}

function answers(): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(PORTS.redis, HOST, () => socket.write('PING\r\n'))
    const finish = (isUp: boolean) => {
      socket.destroy()
      resolve(isUp)
    }
    socket.setTimeout(2000, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('data', data => finish(data.toString().startsWith('+PONG')))
  })
}
