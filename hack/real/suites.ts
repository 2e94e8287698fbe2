/** Finds the suites that need real back ends. */
import { globSync, readFileSync } from 'node:fs'
import { type BackendName, isBackendName } from '../../dataplane/testing/real/backends.ts'

/** `real`: data plane on real servers; `cluster`: on a real Kubernetes. */
export const SUITE_KINDS = ['real', 'cluster'] as const
export type SuiteKind = (typeof SUITE_KINDS)[number]

export const isSuiteKind = (text: string): text is SuiteKind => (SUITE_KINDS as readonly string[]).includes(text)

/** A file `x.real.ts` or `x.cluster.ts` with `export const needs = ['kafka', …]` of names from `backends.ts`, and mocha tests as in any `x.test.ts`. Without that line it sees to itself. */
export interface RealSuite {
  readonly file: string
  readonly needs: readonly BackendName[]
}

const NEEDS = /^export const needs = \[([^\]]*)\]/m

/** Sorted so that suites with the same needs follow each other. */
export function findSuites(
  kind: SuiteKind,
  isWanted: (file: string) => boolean,
): {
  readonly suites: readonly RealSuite[]
  readonly problems: readonly string[]
} {
  const suites: RealSuite[] = []
  const problems: string[] = []
  for (const file of globSync(['dataplane', 'operator', 'hack', 'e2e'].map(folder => `${folder}/**/*.${kind}.ts`)).filter(isWanted)) {
    try {
      suites.push({ file, needs: readNeeds(file, readFileSync(file, 'utf8')) })
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  suites.sort((a, b) => compare(a.needs.join(), b.needs.join()) || compare(a.file, b.file))
  return { suites, problems }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

export function readNeeds(file: string, code: string): readonly BackendName[] {
  const names = [...(NEEDS.exec(code)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(match => match[1]!)
  return names.toSorted().map(name => {
    if (!isBackendName(name)) throw new Error(`${file}: needs ${name}, which is no back end (dataplane/testing/real/backends.ts)`)
    return name
  })
}
