/** The scripts of official clients in other languages, each with its packages, which are downloaded once and kept. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildOnce, run, runGo } from '../../../testing/real/go-tools.ts'
import { findJava, runMaven } from '../../../testing/real/java.ts'
import { CACHE_DIR } from '../../../testing/real/place.ts'
import { Unavailable } from '../../../testing/real/unavailable.ts'
import type { Step } from './steps.ts'

const PYTHON_CLIENT = 'opensearch-py==3.0.0'
const LIMIT_MS = 120_000

/** Throws `Unavailable` where Python or the package is not to be had. */
export async function runPythonClient(url: string): Promise<readonly Step[]> {
  const packages = await keepFolder(PYTHON_CLIENT, installPythonClient)
  const script = join(import.meta.dirname, 'client.py')
  return JSON.parse(await run('python3', [script, url], { limitMs: LIMIT_MS, env: { PYTHONPATH: packages } }))
}

/** Throws `Unavailable` where Go or the module is not to be had. */
export async function runGoClient(url: string): Promise<readonly Step[]> {
  const sources = join(import.meta.dirname, 'go')
  const program = await buildOnce(`official-client-${contentHash(sources, ['main.go', 'go.mod', 'go.sum'])}`, async directory => {
    const built = join(directory, 'official-client')
    await runGo(['build', '-C', sources, '-o', built], LIMIT_MS)
    return built
  })
  return JSON.parse(await run(program, [url], { limitMs: LIMIT_MS }))
}

const JAVA_VERSION = 17

/** Throws `Unavailable` where Java, Maven or the packages are not to be had. */
export async function runJavaClient(url: string): Promise<readonly Step[]> {
  const sources = join(import.meta.dirname, 'java')
  const java = join(findJava(JAVA_VERSION, 'BACKENDS_JAVA_HOME'), 'bin/java')
  const packages = await keepFolder(`opensearch-java-${contentHash(sources, ['pom.xml'])}`, async folder =>
    runMaven(['-f', join(sources, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`], 'opensearch-java'),
  )
  return JSON.parse(await run(java, ['-cp', `${packages}/*`, join(sources, 'Client.java'), url], { limitMs: LIMIT_MS }))
}

/** Another script is another program. */
function contentHash(sources: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(sources, file)))
  return hash.digest('hex').slice(0, 16)
}

/** A folder of the cache, filled once. */
async function keepFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const kept = join(CACHE_DIR, name)
  if (existsSync(kept)) return kept
  mkdirSync(CACHE_DIR, { recursive: true })
  const part = mkdtempSync(`${kept}.`)
  try {
    await fill(part)
    if (!existsSync(kept)) renameSync(part, kept)
    return kept
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

async function installPythonClient(folder: string): Promise<void> {
  try {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, PYTHON_CLIENT], { limitMs: LIMIT_MS })
  } catch (error) {
    throw new Unavailable(`${PYTHON_CLIENT} cannot be had: ${(error as Error).message.trim().split('\n').at(-1)}`)
  }
}
