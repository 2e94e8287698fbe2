import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Differences {
  /** Tests that the real OpenSearch fails as well. */
  readonly failsOnOpenSearch: ReadonlyMap<string, string>
  /** Tests that the embedded store fails by design. */
  readonly byDesign: ReadonlyMap<string, string>
}

/** The tests that may fail, each under its reason. */
export function readDifferences(): Differences {
  const content = parse(readFileSync(new URL('differences.yaml', import.meta.url), 'utf8')) as Record<
    string,
    Record<string, readonly string[]> | null
  >
  const byTest = (part: string) =>
    new Map(Object.entries(content[part] ?? {}).flatMap(([reason, tests]) => tests.map(test => [test, reason])))
  return { failsOnOpenSearch: byTest('fails on OpenSearch 3.5.0'), byDesign: byTest('different by design') }
}
