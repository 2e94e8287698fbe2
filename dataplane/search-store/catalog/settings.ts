/** Index settings: kept flat (`index.refresh_interval`), shown nested, all values as text. */
import { illegalArgument } from '../api-error.ts'
import { isObject, readObject } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'

export type Settings = Readonly<Record<string, string | readonly string[]>>

const MAX_SETTINGS = 1000

/** Reads `{ index: { … } }`, `{ refresh_interval: … }` or flat keys. Throws 400 for values that are no settings. */
export function parseSettings(value: unknown, where = 'settings'): Settings {
  const flat = new Map<string, string | readonly string[]>()
  const visit = (object: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    if (depth > 20) throw illegalArgument(`[${where}] is nested too deep`)
    for (const [key, item] of Object.entries(object)) {
      const path = prefix === '' ? key : `${prefix}.${key}`
      if (isObject(item)) visit(item, path, depth + 1)
      else if (Array.isArray(item)) flat.set(withIndex(path), item.map(textOf))
      else if (item !== null) flat.set(withIndex(path), textOf(item))
    }
  }
  visit(readObject(value ?? {}, where), '', 1)
  if (flat.size > MAX_SETTINGS) throw illegalArgument(`[${where}] may hold at most ${MAX_SETTINGS} settings`)
  return Object.fromEntries(flat)
}

const withIndex = (path: string): string => (path.startsWith('index.') ? path : `index.${path}`)

type SettingTree = Map<string, SettingTree | Settings[string]>

export function nestSettings(settings: Settings): Record<string, unknown> {
  const root: SettingTree = new Map()
  for (const [path, value] of Object.entries(settings)) {
    const names = path.split('.')
    let node = root
    for (const name of names.slice(0, -1)) {
      const known = node.get(name)
      const next: SettingTree = known instanceof Map ? known : new Map()
      node.set(name, next)
      node = next
    }
    node.set(names.at(-1)!, value)
  }
  return objectOf(root)
}

function objectOf(tree: SettingTree): Record<string, unknown> {
  return Object.fromEntries([...tree].map(([name, value]) => [name, value instanceof Map ? objectOf(value) : value]))
}

/** `index.mapping.total_fields.limit`, where set. Throws 400 when it is no positive integer. */
export function totalFieldsLimit(settings: Settings): number | undefined {
  const value = settings['index.mapping.total_fields.limit']
  if (value === undefined) return undefined
  const limit = Number(value)
  if (Number.isInteger(limit) && limit >= 0) return limit
  throw illegalArgument(`Failed to parse value [${textOf(value)}] for setting [index.mapping.total_fields.limit]`)
}
