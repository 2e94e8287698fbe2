import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PROJECT = resolve(import.meta.dirname, '../..')

/** Runs a script of this folder, or of the same folder of another checkout, in a process of its own; its last line of output is the JSON result. */
export async function runChild<T>(script: string, args: readonly string[], checkout = PROJECT): Promise<T> {
  const file = resolve(join(checkout, 'hack/bench', script))
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as T
}
