/** The YAML tests as data: files of tests, a test with the steps that stand before and after it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

export type Step = Readonly<Record<string, unknown>>

export interface YamlTest {
  /** `search/10_source_filtering: _source: true` */
  readonly name: string
  readonly steps: readonly Step[]
  readonly teardown: readonly Step[]
  /** Why this runner, or any server of the version, does not run it. */
  readonly skipped: string | undefined
}

const VERSION = '3.5.0'
const FEATURES = new Set([
  ...['allowed_warnings', 'arbitrary_key', 'catch_unauthorized', 'contains', 'default_shards', 'embedded_stash_key', 'headers'],
  ...['node_selector', 'ordered', 'regex', 'stash_in_key', 'stash_in_path', 'transform_and_set', 'warnings', 'yaml'],
])

/** Those whose name contains one of `wanted`, or all. */
export function readYamlTests(dir: string, wanted: readonly string[] = []): readonly YamlTest[] {
  return globSync('**/*.yml', { cwd: dir })
    .sort()
    .flatMap(file => readFile(join(dir, file), file.replace(/\.yml$/, '')))
    .filter(({ name }) => wanted.length === 0 || wanted.some(part => name.includes(part)))
}

function readFile(path: string, file: string): readonly YamlTest[] {
  const sections = new Map<string, readonly Step[]>()
  // A dot alone is a name, and not the number that YAML 1.1 takes it for.
  const text = readFileSync(path, 'utf8').replace(/^(\s*)\.:/gm, '$1".":')
  for (const document of parseAllDocuments(text, {
    intAsBigInt: true,
    uniqueKeys: false,
    version: '1.1',
    logLevel: 'silent',
  })) {
    const content = plain(document.toJS({ maxAliasCount: -1 }))
    for (const [name, steps] of Object.entries((content ?? {}) as Record<string, readonly Step[]>)) sections.set(name, steps)
  }
  const setup = sections.get('setup') ?? []
  const teardown = sections.get('teardown') ?? []
  return [...sections]
    .filter(([name]) => name !== 'setup' && name !== 'teardown')
    .map(([name, steps]) => {
      const all = [...setup, ...steps]
      return { name: `${file}: ${name}`, steps: all, teardown, skipped: skipReason(all) }
    })
}

/** Whole numbers as numbers where nothing is lost. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value instanceof Date ? value.toISOString() : value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}

interface Skip {
  readonly version?: string
  readonly reason?: string
  readonly features?: string | readonly string[]
}

function skipReason(steps: readonly Step[]): string | undefined {
  for (const step of steps) {
    const skip = step['skip'] as Skip | undefined
    if (skip === undefined) continue
    const unknown = [skip.features ?? []].flat().find(feature => !FEATURES.has(feature))
    if (unknown !== undefined) return `feature ${unknown}`
    if (skip.version !== undefined && coversVersion(String(skip.version))) return `version ${skip.version}`
  }
  return undefined
}

function coversVersion(ranges: string): boolean {
  if (ranges.trim() === 'all') return true
  return ranges.split(',').some(range => {
    const [from = '', to = ''] = range.includes(' - ') || /^\s*-|-\s*$/.test(range) ? range.split(/\s*-\s*/) : [range, range]
    return (from.trim() === '' || compareVersions(from, VERSION) <= 0) && (to.trim() === '' || compareVersions(VERSION, to) <= 0)
  })
}

/** Versions 5 to 8 are those of before OpenSearch 1. */
function numbersOf(version: string): readonly number[] {
  const numbers = version.trim().split('.').map(Number)
  return numbers[0]! >= 5 && numbers[0]! <= 8 ? [0, ...numbers] : numbers
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map(numbersOf) as [readonly number[], readonly number[]]
  for (let at = 0; at < 3; at++) if ((left[at] ?? 0) !== (right[at] ?? 0)) return (left[at] ?? 0) - (right[at] ?? 0)
  return 0
}
