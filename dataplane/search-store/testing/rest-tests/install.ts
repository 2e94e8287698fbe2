/** OpenSearch's own tests of its REST API, from Maven Central, kept in the cache of `hack/backends`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runMaven } from '../../../testing/real/java.ts'
import { CACHE_DIR } from '../../../testing/real/place.ts'
import { Unavailable } from '../../../testing/real/unavailable.ts'

/** The newest that is published; OpenSearch 3.5.0, which the other suites run, fails those of them that `differences.yaml` names. */
const VERSION = '3.1.0'
const DIR = join(CACHE_DIR, `rest-api-spec-${VERSION}`)

/** The folder with `api/*.json` and `test/**.yml`; downloads it once. Throws `Unavailable` where it cannot be had. */
export function installRestTests(): string {
  if (!existsSync(DIR)) download()
  return join(DIR, 'rest-api-spec')
}

function download(): void {
  const dir = mkdtempSync(join(tmpdir(), 'rest-tests-'))
  runMaven(['dependency:copy', `-Dartifact=org.opensearch:rest-api-spec:${VERSION}:jar`, `-DoutputDirectory=${dir}`], 'rest-api-spec')
  const { error, status, stderr } = spawnSync('unzip', ['-q', join(dir, `rest-api-spec-${VERSION}.jar`), '-d', join(dir, 'all')], {
    encoding: 'utf8',
  })
  if (error !== undefined) throw new Unavailable('unzip is not installed, the REST tests cannot be unpacked')
  if (status !== 0) throw new Error(`cannot unpack the REST tests: ${stderr}`)
  mkdirSync(CACHE_DIR, { recursive: true })
  const part = mkdtempSync(`${DIR}.`)
  spawnSync('cp', ['-r', join(dir, 'all/rest-api-spec'), part])
  if (!existsSync(DIR)) renameSync(part, DIR)
  for (const left of [dir, part]) rmSync(left, { recursive: true, force: true })
}
