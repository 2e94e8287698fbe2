/** The examples of the chart, as objects. */
import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import { CHART } from './chart-files.ts'

export const EXAMPLES = new URL('examples/', CHART)

/** Paths below `EXAMPLES`. */
export function exampleFiles(): readonly string[] {
  return readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.yaml'))
    .sort()
}

/** Throws for what is no YAML. */
export function readExample(path: string): readonly KubernetesObject[] {
  return parseObjects(readFileSync(new URL(path, EXAMPLES), 'utf8'))
}

export function parseObjects(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text).flatMap(document => {
    if (document.errors[0] !== undefined) throw document.errors[0]
    const object = document.toJS() as KubernetesObject | null
    return object === null ? [] : [object]
  })
}
