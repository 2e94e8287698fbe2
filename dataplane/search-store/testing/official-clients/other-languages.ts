/** The scripts of official clients in other languages, each with its packages, which are downloaded once and kept. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildOnce, run, runGo } from '../../../testing/real/go-tools.ts'
import { CACHE_DIR } from '../../../testing/real/place.ts'
import { Unavailable } from '../../../testing/real/unavailable.ts'
import type { Step } from './steps.ts'

const PYTHON_CLIENT = 'opensearch-py==3.0.0'
const LIMIT_MS = 120_000

/** Throws `Unavailable` where Python or the package is not to be had. */
export async function runPythonClient(url: string): Promise<readonly Step[]> {
  const packages = await installPythonClient()
  const script = join(import.meta.dirname, 'client.py')
  return JSON.parse(await run('python3', [script, url], { limitMs: LIMIT_MS, env: { PYTHONPATH: packages } }))
}

/** Throws `Unavailable` where Go or the module is not to be had. */
export async function runGoClient(url: string): Promise<readonly Step[]> {
  const sources = join(import.meta.dirname, 'go')
  const program = await buildOnce(`official-client-${contentHash(sources)}`, async directory => {
    const built = join(directory, 'official-client')
    await runGo(['build', '-C', sources, '-o', built], LIMIT_MS)
    return built
  })
  return JSON.parse(await run(program, [url], { limitMs: LIMIT_MS }))
}

/** Another script is another program. */
function contentHash(sources: string): string {
  const hash = createHash('sha256')
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(sources, file)))
  return hash.digest('hex').slice(0, 16)
}

async function installPythonClient(): Promise<string> {
  const kept = join(CACHE_DIR, PYTHON_CLIENT)
  if (existsSync(kept)) return kept
  mkdirSync(CACHE_DIR, { recursive: true })
  const part = mkdtempSync(`${kept}.`)
  try {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', part, PYTHON_CLIENT], { limitMs: LIMIT_MS })
    if (!existsSync(kept)) renameSync(part, kept)
    return kept
  } catch (error) {
    throw new Unavailable(`${PYTHON_CLIENT} cannot be had: ${(error as Error).message.trim().split('\n').at(-1)}`)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}
