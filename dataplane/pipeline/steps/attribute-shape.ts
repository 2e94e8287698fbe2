import { CANONICAL_SOURCES } from '../../domain/canonical-fields.ts'
import { stableKeys } from '../../domain/document-id.ts'
import { isCanonicalName, isTopLevelKey } from '../../domain/field-names.ts'
import { flattenKey } from '../../domain/flatten.ts'
import type { KeyValue } from '../../otlp/payload.ts'

/** Everything about a list of attribute keys that does not depend on the values: records of one kind of log line share it. */
export interface AttributeShape {
  readonly keys: readonly string[]
  /** False when the keys need the rules one by one: repeated ones, or such as fill a canonical field. */
  readonly isPlain: boolean
  readonly flatNames: readonly string[]
  /** Per key, what precedes its value: in the flattened run (`''`: not there), under `attributes`. */
  readonly flatPrefix: readonly string[]
  readonly attributePrefix: readonly string[]
  readonly isTopLevel: readonly boolean[]
  readonly topLevelKeys: readonly string[]
  /** Positions in the order of the keys, and `stableKeys` of them. */
  readonly sorted: readonly number[]
  readonly stableKeys: string
}

/** Name of the attribute that keeps the record's own severity text. */
const SEVERITY_TEXT = 'severity_text'

/** Keys that may fill a canonical field, and so cannot be treated by shape alone. */
const SPECIAL_KEYS: ReadonlySet<string> = new Set([...CANONICAL_SOURCES, 'tenant_id'])

function buildShape(keys: readonly string[]): AttributeShape {
  const flatNames = keys.map(flattenKey)
  const sorted = keys.map((_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1))
  const topLevel = keys.map(isTopLevelKey)
  const quoted = keys.map(key => JSON.stringify(key))
  return {
    keys,
    isPlain: new Set(flatNames).size === keys.length && !keys.some(key => SPECIAL_KEYS.has(key)),
    flatNames,
    flatPrefix: flatNames.map(name => (isCanonicalName(name) ? '' : `,${JSON.stringify(name)}:`)),
    attributePrefix: quoted.map(key => `${key}:`),
    isTopLevel: topLevel,
    topLevelKeys: keys.filter((_, i) => topLevel[i]),
    sorted,
    stableKeys: stableKeys(sorted.map(i => keys[i]!)),
  }
}

/** Shapes of one length that are compared; more kinds of log lines than that at a time are rare. */
const MAX_SHAPES_PER_LENGTH = 32
/** Longer lists are not worth remembering. */
const MAX_SHAPE_LENGTH = 64

/** Remembers shapes by comparing keys, which is cheaper than hashing them. */
export class AttributeShapes {
  readonly #byLength: AttributeShape[][] = []

  /** The shape of a record's attributes, with `severity_text` at the end when the record has one; undefined for a very long list. */
  find(attributes: readonly KeyValue[], hasSeverityText: boolean): AttributeShape | undefined {
    const length = attributes.length + (hasSeverityText ? 1 : 0)
    if (length > MAX_SHAPE_LENGTH) return undefined
    this.#byLength[length] ??= []
    const shapes = this.#byLength[length]
    for (const shape of shapes) if (hasKeys(shape, attributes, hasSeverityText)) return shape
    const keys = attributes.map(({ key = '' }) => key)
    const shape = buildShape(hasSeverityText ? [...keys, SEVERITY_TEXT] : keys)
    if (shapes.length >= MAX_SHAPES_PER_LENGTH) shapes.shift()
    shapes.push(shape)
    return shape
  }
}

function hasKeys({ keys }: AttributeShape, attributes: readonly KeyValue[], hasSeverityText: boolean): boolean {
  for (let i = 0; i < attributes.length; i++) if (keys[i] !== attributes[i]!.key) return false
  return hasSeverityText === keys.length > attributes.length && (!hasSeverityText || keys[attributes.length] === SEVERITY_TEXT)
}
