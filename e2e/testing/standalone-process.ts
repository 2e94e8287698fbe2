import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { portSettings, type SettingName } from '../../dataplane/contract/env.ts'
import { eventually, GaveUp } from '../../dataplane/testing/eventually.ts'
import { freePorts } from '../../dataplane/testing/free-port.ts'
import { wholeLines } from './whole-lines.ts'

export { eventually }

export const PROGRAM = resolve(import.meta.dirname, '../../hack/logpipeline')
const START_TIMEOUT_MS = 60_000
const MAX_STARTS = 3
/** End of the output that a failed start tells. */
const SAID_CHARACTERS = 2_000

const PORT_SETTINGS = portSettings('standalone')
type PortSetting = SettingName

/** A `logpipeline standalone` of its own: fresh directory, free ports, output in a file beside the data. */
export interface Standalone {
  readonly dataDir: string
  readonly logFile: string
  readonly dashboard: string
  readonly grpc: string
  readonly collector: string
  /** With TLS, by a certificate that no one trusts. */
  readonly gateway: string
  readonly health: string
  readonly bridge: string
  readonly ticketing: string
  readonly agent: string
  readonly features: string
  readonly scheduler: string
  readonly search: string
  readonly pid: number
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Starts it again on the same directory and ports. */
  restart(): Promise<void>
  /** Stops it if need be and removes its directory. */
  remove(): Promise<void>
}

/** `program`: the launcher of another checkout, where its version is to run. `signal` ends the process, also while it starts. */
export async function startStandalone(
  env: Readonly<Record<string, string>> = {},
  {
    parentDirectory = tmpdir(),
    program = PROGRAM,
    signal,
  }: { readonly parentDirectory?: string; readonly program?: string; readonly signal?: AbortSignal } = {},
): Promise<Standalone> {
  const directory = mkdtempSync(join(parentDirectory, 'logpipeline-e2e-'))
  const dataDir = join(directory, 'data')
  const logFile = join(directory, 'output.log')
  let ports = await choosePorts()
  let child: ChildProcess
  let gone: Promise<number | null>

  signal?.addEventListener('abort', () => (child as ChildProcess | undefined)?.kill('SIGKILL'))
  const launch = async () => {
    signal?.throwIfAborted()
    const settings = Object.fromEntries(PORT_SETTINGS.map(name => [name, String(ports[name])]))
    child = spawn(program, ['standalone'], {
      env: { PATH: process.env['PATH'], ...settings, DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log = createWriteStream(logFile, { flags: 'a' })
    for (const stream of [child.stdout!, child.stderr!]) stream.pipe(wholeLines()).pipe(log, { end: false })
    gone = new Promise(done => child.once('exit', code => done(code)))
    await untilReady(child, [
      `http://127.0.0.1:${ports.HEALTH_PORT}/`,
      `http://127.0.0.1:${ports.BRIDGE_PORT}/health`,
      `http://127.0.0.1:${ports.DASHBOARD_PORT}/health`,
    ]).catch(error => {
      // Nobody else would end one that does not get ready.
      child.kill('SIGKILL')
      throw error
    })
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await launch()
      break
    } catch (error) {
      // Ports are free when they are chosen; another suite may take one before the program does.
      const output = readFileSync(logFile, 'utf8')
      if (attempt === MAX_STARTS || !output.includes('another program listens there')) {
        rmSync(directory, { recursive: true, force: true })
        throw new Error(`${(error as Error).message}; the end of its output:\n${output.slice(-SAID_CHARACTERS)}`, { cause: error })
      }
      ports = await choosePorts()
    }
  }
  const at = (name: PortSetting) => `http://127.0.0.1:${ports[name]}`
  return {
    dataDir,
    logFile,
    dashboard: at('DASHBOARD_PORT'),
    grpc: `127.0.0.1:${ports.OTLP_GRPC_PORT}`,
    collector: at('OTLP_HTTP_PORT'),
    gateway: `https://127.0.0.1:${ports.GATEWAY_PORT}`,
    health: at('HEALTH_PORT'),
    bridge: at('BRIDGE_PORT'),
    ticketing: at('TICKETING_PORT'),
    agent: at('AGENT_PORT'),
    features: at('FEATURES_PORT'),
    scheduler: at('SCHEDULER_PORT'),
    search: at('SEARCH_PORT'),
    get pid() {
      return child.pid!
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async stop() {
      child.kill('SIGTERM')
      return await gone
    },
    restart: launch,
    async remove() {
      child.kill('SIGKILL')
      await gone
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function untilReady(child: ChildProcess, addresses: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      const ended = child.exitCode ?? child.signalCode
      if (ended !== null) throw new GaveUp(`standalone exited with ${ended}`)
      for (const address of addresses) {
        const response = await fetch(address)
        if (!response.ok) throw new Error(`${address} answers ${response.status}: ${await response.text()}`)
      }
    },
    { timeoutMs: START_TIMEOUT_MS },
  )
}

async function choosePorts(): Promise<Record<PortSetting, number>> {
  const ports = await freePorts(PORT_SETTINGS.length)
  return Object.fromEntries(PORT_SETTINGS.map((name, i) => [name, ports[i]!])) as Record<PortSetting, number>
}
