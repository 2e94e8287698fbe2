/** A server in a Docker container, with its data in a volume, so that it can be killed and started again on it. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST } from './place.ts'
import type { Server } from './server.ts'
import { Unavailable } from './unavailable.ts'

export interface Container {
  readonly name: string
  /** With its version. */
  readonly image: string
  /** Ports on this machine and in the container. */
  readonly ports: readonly (readonly [host: number, container: number])[]
  readonly env?: Readonly<Record<string, string>>
  /** Where its data is kept, in a volume of the container's name; absent: it keeps none. */
  readonly dataDir?: string
  /** Folders of this machine that it reads. */
  readonly folders?: Readonly<Record<string, string>>
  /** Others of the same network reach it by its name. */
  readonly network?: string
  readonly entrypoint?: string
  readonly command?: readonly string[]
  /** The container's output, on this machine: with `--rm` nothing of it is left in Docker. */
  readonly logFile: string
}

/** Arguments of `docker`. */
export function runArguments(container: Container): readonly string[] {
  const { name, image, ports, env = {}, dataDir, folders = {}, network, entrypoint, command = [] } = container
  return [
    'run',
    '--rm',
    '-d',
    '--name',
    name,
    '--hostname',
    name,
    ...(network === undefined ? [] : ['--network', network]),
    ...ports.flatMap(([host, inside]) => ['-p', `${HOST}:${host}:${inside}`]),
    ...Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
    ...(dataDir === undefined ? [] : ['-v', `${name}:${dataDir}`]),
    ...Object.entries(folders).flatMap(([folder, inside]) => ['-v', `${folder}:${inside}:ro`]),
    ...(entrypoint === undefined ? [] : ['--entrypoint', entrypoint]),
    image,
    ...command,
  ]
}

export interface ContainerServer extends Server {
  launch(): void
  /** Once it is stopped. */
  removeData(): void
}

export function containerServer(container: Container): ContainerServer {
  const { name, logFile } = container
  return {
    name: `container ${name}`,
    launch() {
      mkdirSync(dirname(logFile), { recursive: true })
      const log = openSync(logFile, 'w')
      if (container.network !== undefined && !succeeds('network', 'inspect', container.network))
        docker('network', 'create', container.network)
      docker(...runArguments(container))
      spawn('docker', ['logs', '--follow', name], { detached: true, stdio: ['ignore', log, log] })
        .on('error', () => undefined) // the log stays empty
        .unref()
    },
    pid: () => pidOf(name),
    async stop(signal = 'SIGTERM') {
      if (pidOf(name) !== undefined) docker(...(signal === 'SIGKILL' ? ['kill', '--signal', 'KILL', name] : ['stop', '-t', '20', name]))
      // Its name is free a moment later.
      while (succeeds('container', 'inspect', name)) await sleep(50)
    },
    freeze: async () => docker('pause', name),
    thaw: () => docker('unpause', name),
    logEnd: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n') : '(no log)'),
    removeData() {
      if (container.dataDir !== undefined) docker('volume', 'rm', '--force', name)
    },
  }
}

/** Fetches an image that is not here yet; rejects with `Unavailable` where that fails. */
export function pullImage(image: string): void {
  if (succeeds('image', 'inspect', image)) return
  const { status, stderr } = spawnSync('docker', ['pull', '--quiet', image], { encoding: 'utf8' })
  if (status !== 0) throw new Unavailable(`image ${image} cannot be fetched: ${(stderr ?? '').trim().slice(-300)}`)
}

export function removeNetwork(network: string): void {
  if (succeeds('network', 'inspect', network)) docker('network', 'rm', network)
}

function pidOf(name: string): number | undefined {
  const { status, stdout } = spawnSync('docker', ['container', 'inspect', '--format', '{{.State.Pid}}', name], { encoding: 'utf8' })
  const pid = status === 0 ? Number(stdout) : 0
  return pid > 0 ? pid : undefined
}

const succeeds = (...args: readonly string[]) => spawnSync('docker', args, { stdio: 'ignore' }).status === 0

function docker(...args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('docker', args, { encoding: 'utf8' })
  if (error !== undefined || status !== 0) throw new Error(`docker ${args[0]} ${args.at(-1)}: ${error?.message ?? stderr.trim()}`)
}
