import { OPEN_LIST } from '../../json/bytes.ts'

/** The field paths that a custom attribute brings into the index: one, or one per leaf of the objects in an array. */
export function fieldPaths(key: string, json: string): readonly string[] {
  if (!holdsObjects(json)) return [key]
  const paths = new Set<string>()
  collectPaths(key, JSON.parse(json), paths)
  return [...paths]
}

/** Whether a flat value is an array with objects in it: then its key alone does not tell the fields. */
export function holdsObjects(json: string): boolean {
  return json.charCodeAt(0) === OPEN_LIST && json.includes('{')
}

function collectPaths(path: string, value: unknown, paths: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collectPaths(path, item, paths)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) collectPaths(`${path}.${key}`, inner, paths)
  else paths.add(path)
}
