/** What `npm test` runs: static checks, and test files grouped so that each group has a process of its own. */
import { globSync } from 'node:fs'

export interface StaticCheck {
  readonly kind: 'check'
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

export interface TestGroup {
  readonly kind: 'tests'
  readonly name: string
  readonly files: readonly string[]
}

export type Job = StaticCheck | TestGroup

const bin = 'node_modules/.bin'

export const STATIC_CHECKS: readonly StaticCheck[] = [
  { kind: 'check', name: 'types (tsc)', command: [`${bin}/tsc`, '-p', '.'] },
  {
    kind: 'check',
    name: 'format and lint (biome)',
    command: [`${bin}/biome`, 'ci', '--colors=off', '--diagnostic-level=warn', '--max-diagnostics=15', '.'],
  },
  { kind: 'check', name: 'import table', command: [process.execPath, 'hack/check-imports.ts'] },
]

/** End-to-end files one by one and first, because they take longest; unit tests by folder. */
export function findTestGroups(): readonly TestGroup[] {
  const e2e = globSync('e2e/**/*.test.ts').sort()
  const unit = globSync(['dataplane/**/*.test.ts', 'hack/**/*.test.ts']).sort()
  const folders = Object.groupBy(unit, file => file.split('/').slice(0, 2).join('/'))
  return [
    ...e2e.map(file => ({ kind: 'tests' as const, name: file, files: [file] })),
    ...Object.entries(folders).map(([name, files]) => ({ kind: 'tests' as const, name, files: files ?? [] })),
  ]
}
