/** A server in a process of its own, on a free port and in a directory of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../dataplane/testing/free-port.ts'
import { eventually } from '../../e2e/testing/standalone-process.ts'
import { fetchText } from './subject.ts'

export interface ServerProcess {
  readonly pid: number
  readonly dataDir: string
  readonly port: number
  /** Kills it and removes its directory. */
  remove(): Promise<void>
}

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Starts `build(port, dataDir)` and waits until it answers `healthPath`. */
export async function startServer(build: (port: number, dataDir: string) => ServerCommand, healthPath: string): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'logpipeline-bench-'))
  const port = await freePort()
  const { command, args, env } = build(port, dataDir)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env['PATH'], ...env } })
  const gone = once(child, 'exit')
  await eventually(() => fetchText(`http://127.0.0.1:${port}${healthPath}`))
  return {
    pid: child.pid!,
    dataDir,
    port,
    async remove() {
      child.kill('SIGKILL')
      await gone
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
