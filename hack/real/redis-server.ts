/** A real Redis (or Valkey) on this machine, without persistence. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { HOST, PORTS, RUN_DIR } from './place.ts'
import { expectFreePort, launch, pidOf, stopProcess, waitUntilReady } from './server-process.ts'
import { Unavailable } from './unavailable.ts'

const DIR = join(RUN_DIR, 'redis')
const SERVER = { pidFile: join(DIR, 'pid'), logFile: join(DIR, 'log'), mark: String(PORTS.redis) }
const PROGRAMS = ['redis-server', 'valkey-server']
const READY_TIMEOUT_MS = 15_000

export const redisAddress = () => `redis://${HOST}:${PORTS.redis}`

export async function isRedisUp(): Promise<boolean> {
  return pidOf(SERVER) !== undefined && (await answers())
}

export async function startRedis(): Promise<void> {
  if (await isRedisUp()) return
  const program = PROGRAMS.find(name => spawnSync(name, ['--version']).error === undefined)
  if (program === undefined)
    throw new Unavailable('neither redis-server nor valkey-server is installed (Debian: apt-get install redis-server)')
  if (pidOf(SERVER) === undefined) await expectFreePort(PORTS.redis, 'BACKENDS_REDIS_PORT')
  const settings = ['--bind', HOST, '--port', String(PORTS.redis), '--save', '', '--appendonly', 'no']
  launch({ ...SERVER, command: [program, ...settings] })
  await waitUntilReady(SERVER, answers, READY_TIMEOUT_MS)
}

export async function stopRedis(): Promise<void> {
  await stopProcess(SERVER)
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
