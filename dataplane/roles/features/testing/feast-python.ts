/** A Python that has the Feast SDK: the one that `FEAST_PYTHON` names, else one of our own, installed once from PyPI. */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CACHE_DIR } from '../../../testing/real/place.ts'
import { skipBecause } from '../../../testing/skip-because.ts'

const run = promisify(execFile)

const FEAST = 'feast==0.67.0'
/** Downloading and unpacking took 75 s; a slow line gets more. */
export const INSTALL_LIMIT_MS = 400_000

/** Skips the suite where neither is to be had. */
export async function feastPython(context: Mocha.Context): Promise<string> {
  const named = process.env['FEAST_PYTHON']
  if (named !== undefined) return named
  const place = join(CACHE_DIR, FEAST.replace('==', '-'))
  const python = join(place, 'bin', 'python')
  if (await works(python)) return python
  try {
    await install(place)
  } catch (error) {
    return skipBecause(context, `${FEAST} cannot be installed with this machine's python3 (${firstLine(error)}); FEAST_PYTHON may name one`)
  }
  return python
}

/** A virtual environment knows its own path, so it is made in place; an unfinished one does not work and is made anew. */
async function install(place: string): Promise<void> {
  rmSync(place, { recursive: true, force: true })
  mkdirSync(CACHE_DIR, { recursive: true })
  await run('python3', ['-m', 'venv', place])
  await run(join(place, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', FEAST], { timeout: INSTALL_LIMIT_MS })
}

async function works(python: string): Promise<boolean> {
  try {
    await run(python, ['-c', 'import feast'])
    return true
  } catch {
    return false
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!
}
