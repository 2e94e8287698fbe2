/** The fixtures of the operator's builders, and the objects that are made of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments, stringify } from 'yaml'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import { gatheredFrom } from '../../observed/testing/gathered-from.ts'
import { buildPipeline, type PipelineInput } from './build-pipeline.ts'

const GOLDEN = '.golden.yaml'
const HEADING = '# Made by hack/golden.ts from the fixture beside it; change operator/desired instead.\n'

export const FIXTURES = new URL('../fixtures/', import.meta.url)

export function fixtureNames(): readonly string[] {
  const files = readdirSync(FIXTURES).filter(file => file.endsWith('.yaml') && !file.endsWith(GOLDEN))
  return files.map(file => file.slice(0, -'.yaml'.length)).sort()
}

export function readFixtureObjects(name: string): readonly KubernetesObject[] {
  const text = readFileSync(new URL(`${name}.yaml`, FIXTURES), 'utf8')
  return parseAllDocuments(text).map(document => document.toJS() as KubernetesObject)
}

export function readFixture(name: string): PipelineInput {
  return { gathered: gatheredFrom(readFixtureObjects(name)), settings: { image: 'logpipeline:0.1.0' } }
}

/** File name → text. */
export function goldenFiles(): Readonly<Record<string, string>> {
  const entries = fixtureNames().map(name => {
    const objects = buildPipeline(readFixture(name)).map(object =>
      stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' }),
    )
    return [`${name}${GOLDEN}`, HEADING + objects.join('---\n')] as const
  })
  return Object.fromEntries(entries)
}
