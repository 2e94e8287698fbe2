/** Flattens attributes: nested maps become dotted keys (Spec: Pipeline rules 2; Decisions 4). */
import { hash } from 'node:crypto'
import type { AnyValue, KeyValue } from '../../otlp/payload.ts'
import { anyValueJson } from './any-value.ts'

/**
 * Attributes by their dotted key, each value as compact JSON text. A Map, so that no key is special (`__proto__`);
 * in the order in which the keys first appeared.
 */
export type FlatAttributes = ReadonlyMap<string, string>

/** Longest path of a nested map whose entries become attributes, in characters: each of them repeats it. */
export const MAX_PATH_LENGTH = 512
/** Characters of all paths that lead into the nested values of one set of attributes. */
export const MAX_PATHS_LENGTH = 65_536
/** The same within its lists, whose objects stay: paths of their fields are made only where a document is indexed. */
const MAX_LIST_PATHS_LENGTH = 1_048_576
/** Characters of the JSON text that stands for a nested value; a longer text is cut. */
export const MAX_VALUE_TEXT_LENGTH = 262_144

/**
 * Resource, scope and record attributes as one flat set: merged in that order, the later wins; duplicate keys: the last
 * wins; nested maps flatten with dots; arrays stay JSON values (Spec: Pipeline rules 2; Decisions 4). A nested value whose paths pass the bounds
 * above stands as its JSON text, a string. So time and size grow with the input alone.
 */
export function flattenAttributes(...levels: readonly (readonly KeyValue[] | undefined)[]): FlatAttributes {
  const flat = new Map<string, string>()
  let left = { inMaps: MAX_PATHS_LENGTH, inLists: MAX_LIST_PATHS_LENGTH }
  for (const level of levels)
    for (const { key = '', value } of level ?? []) {
      if (!isNested(value)) {
        flat.set(key, anyValueJson(value, 'typed'))
        continue
      }
      const leaves = new NestedLeaves(left)
      if (leaves.add(key, value)) {
        left = leaves.left
        for (const [path, json] of leaves.found) flat.set(path, json)
      } else flat.set(key, valueText(value))
    }
  return flat
}

/** Whether paths lead into the value: a map, or a list, which may hold maps. */
function isNested(value: AnyValue | undefined): value is AnyValue {
  return value !== undefined && (value.kvlistValue !== undefined || value.arrayValue !== undefined)
}

/** Characters that paths may still take. */
interface PathsLeft {
  inMaps: number
  inLists: number
}

/** The attributes that one nested value becomes, as far as there is room for their paths. */
class NestedLeaves {
  readonly found: [path: string, json: string][] = []
  readonly left: PathsLeft

  constructor(left: PathsLeft) {
    this.left = { ...left }
  }

  /** Adds a value with all that is in it; false when there is no room. */
  add(path: string, value: AnyValue | undefined): boolean {
    const entries = value?.kvlistValue?.values ?? []
    if (entries.length === 0) {
      this.found.push([path, anyValueJson(value, 'typed')])
      return value === undefined || this.#takePaths(path.length, value)
    }
    if (path.length > MAX_PATH_LENGTH) {
      this.found.push([path, valueText(value)])
      return true
    }
    for (const { key = '', value: inner } of entries) {
      this.left.inMaps -= path.length + 1 + key.length
      if (this.left.inMaps < 0 || !this.add(`${path}.${key}`, inner)) return false
    }
    return true
  }

  /** The objects in a list stay objects. A search store makes paths of their fields all the same. */
  #takePaths(pathLength: number, { arrayValue, kvlistValue }: AnyValue): boolean {
    for (const item of arrayValue?.values ?? []) if (isNested(item) && !this.#takePaths(pathLength, item)) return false
    for (const { key = '', value } of kvlistValue?.values ?? []) {
      const innerLength = pathLength + 1 + key.length
      this.left.inLists -= innerLength
      if (this.left.inLists < 0 || (isNested(value) && !this.#takePaths(innerLength, value))) return false
    }
    return true
  }
}

/** A value's JSON text as a JSON string, cut where it is too long; the digest tells cut texts apart. */
function valueText(value: AnyValue | undefined): string {
  const text = anyValueJson(value, 'typed')
  if (text.length <= MAX_VALUE_TEXT_LENGTH) return JSON.stringify(text)
  const shown = text.slice(0, MAX_VALUE_TEXT_LENGTH).toWellFormed()
  return JSON.stringify(`${shown}… (cut: ${text.length} characters, sha256 ${hash('sha256', text, 'hex').slice(0, DIGEST_LENGTH)})`)
}

const DIGEST_LENGTH = 16

/** A key with dots replaced by underscores: `service.name` becomes `service_name` (Spec: Pipeline rules 2). */
export function flattenKey(key: string): string {
  return key.includes('.') ? key.replaceAll('.', '_') : key
}

/** The text of a flat value as a field holds it: a string itself, anything else its JSON; undefined for null and the empty string. */
export function flatText(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null' || json === '""') return undefined
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}
