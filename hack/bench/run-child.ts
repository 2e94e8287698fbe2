import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a script of this folder in a process of its own; its last line of output is the JSON result. */
export async function runChild<T>(script: string, args: readonly string[]): Promise<T> {
  const file = resolve(import.meta.dirname, script)
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as T
}
