/** Label and field selectors, as far as the operator uses them. */
import type { KubernetesObject } from '../object.ts'

export type Selector = (object: KubernetesObject) => boolean

/** `a=b`, `a!=b`, `a`, `!a`, separated by commas. */
export function parseSelectors(labels: string | null, fields: string | null): Selector {
  const checks = [
    ...split(labels).map(term => check(term, (object, name) => object.metadata.labels?.[name])),
    ...split(fields).map(term => check(term, fieldOf)),
  ]
  return object => checks.every(holds => holds(object))
}

function split(text: string | null): readonly string[] {
  return text === null || text === '' ? [] : text.split(',')
}

function check(term: string, read: (object: KubernetesObject, name: string) => string | undefined): Selector {
  const [, name, operator, value] = /^!?([^=!]+?)(==|!=|=)?([^=]*)$/.exec(term)!
  if (operator === undefined) return object => (read(object, name!) !== undefined) === !term.startsWith('!')
  return object => (read(object, name!) === value) === (operator !== '!=')
}

function fieldOf(object: KubernetesObject, path: string): string | undefined {
  let value: unknown = object
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}
