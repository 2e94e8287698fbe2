/**
 * Format and lint by biome, of those files that have changed since biome found nothing in them: what it finds in a file depends on the file and the
 * settings alone, as no rule of a project is on. With CI set, where nothing is known, or outside of git: of all files.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const BIOME = 'node_modules/@biomejs/biome'
const KNOWN = resolve(ROOT, 'node_modules/.cache/biome/without-findings')
/** Beyond so many files biome finds them itself. */
const MAX_NAMED = 300
/** Settings, versions and ignored files decide what is found, too. */
const SETTINGS = ['biome.json', '.gitignore', `${BIOME}/package.json`]

const settings = SETTINGS.map(path => readFileSync(resolve(ROOT, path), 'utf8')).join('\0')
const files = listFiles()
const digests = new Map(files?.map(path => [path, digestOf(path)]))
const known = new Set(process.env['CI'] === undefined && existsSync(KNOWN) ? readFileSync(KNOWN, 'utf8').split('\n') : [])
const changed = [...digests].filter(([, digest]) => !known.has(digest)).map(([path]) => path)

if (files !== undefined && changed.length === 0) process.exit(0)
const named =
  files === undefined || changed.length > MAX_NAMED ? ['.'] : ['--no-errors-on-unmatched', '--files-ignore-unknown=true', ...changed]
const args = ['ci', '--colors=off', '--diagnostic-level=warn', '--max-diagnostics=15', ...named]
const { status } = spawnSync(process.execPath, [`${BIOME}/bin/biome`, ...args], { cwd: ROOT, stdio: 'inherit' })
if (status === 0 && files !== undefined) {
  mkdirSync(dirname(KNOWN), { recursive: true })
  writeFileSync(KNOWN, [...digests.values()].join('\n'))
}
process.exit(status ?? 1)

/** All files that git does not ignore; undefined where there is no git. */
function listFiles(): readonly string[] | undefined {
  const { status: listed, stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  if (listed !== 0) return undefined
  const paths = [...new Set(stdout.toString().split('\0'))].filter(Boolean)
  return paths.filter(path => existsSync(resolve(ROOT, path)) && statSync(resolve(ROOT, path)).isFile())
}

function digestOf(path: string): string {
  return createHash('sha256')
    .update(`${path}\0${settings}\0`)
    .update(readFileSync(resolve(ROOT, path)))
    .digest('hex')
}
