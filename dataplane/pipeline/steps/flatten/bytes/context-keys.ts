/** The keys of resource and scope: what follows from them alone is worked out once, as thousands of senders have the same ones with values of their own. */
import { keySetId } from '../../../../domain/documents/custom-keys.ts'
import { isCanonicalName, isTopLevelKey } from '../../../../domain/documents/field-names.ts'
import { flattenKey } from '../../../../domain/records/flatten.ts'
import type { AttributeShape } from './attribute-shape.ts'

export interface ContextKeys {
  /** Whether no two of them flatten to one name. */
  readonly areDistinct: boolean
  readonly each: readonly ContextKey[]
  /** The id of the top-level keys of these and a shape, undefined when a key of the shape is one of these, too. */
  keySetWith(shape: AttributeShape): string | undefined
}

/** A key as it stands before its value: a comma, the name, a colon. */
interface ContextKey {
  /** With the flattened name; '' where that is canonical. */
  readonly flattened: string
  readonly original: string
  readonly isTopLevel: boolean
}

const MAX_LISTS = 1_000
/** Characters of all keys of all lists. */
const MAX_CHARACTERS = 4 * 1024 * 1024

/** Lists of keys seen before. */
export class KnownContextKeys {
  readonly #lists = new Map<string, ContextKeys>()
  #characters = 0
  /** How many have been built, known ones not counted. */
  built = 0

  of(keys: readonly string[]): ContextKeys {
    const id = JSON.stringify(keys)
    const known = this.#lists.get(id)
    if (known !== undefined) return known
    this.#characters += id.length
    if (this.#lists.size >= MAX_LISTS || this.#characters > MAX_CHARACTERS) {
      this.#lists.clear()
      this.#characters = id.length
    }
    const list = buildContextKeys(keys)
    this.built++
    this.#lists.set(id, list)
    return list
  }
}

function buildContextKeys(keys: readonly string[]): ContextKeys {
  const flatNames = new Set(keys.map(flattenKey))
  const topLevelKeys = keys.filter(isTopLevelKey)
  return {
    areDistinct: flatNames.size === keys.length,
    each: keys.map(key => ({
      flattened: isCanonicalName(flattenKey(key)) ? '' : prefixOf(flattenKey(key)),
      original: prefixOf(key),
      isTopLevel: isTopLevelKey(key),
    })),
    keySetWith: rememberKeySets(flatNames, topLevelKeys),
  }
}

const prefixOf = (name: string) => `,${JSON.stringify(name)}:`

const MAX_KEY_SETS = 256

function rememberKeySets(flatNames: ReadonlySet<string>, topLevelKeys: readonly string[]): ContextKeys['keySetWith'] {
  const keySets = new Map<number, string | undefined>()
  return shape => {
    const known = keySets.get(shape.id)
    if (known !== undefined || keySets.has(shape.id)) return known
    const collides = shape.flatNames.some(name => flatNames.has(name))
    const keySet = collides ? undefined : keySetId([...topLevelKeys, ...shape.topLevelKeys])
    if (keySets.size >= MAX_KEY_SETS) keySets.clear()
    keySets.set(shape.id, keySet)
    return keySet
  }
}
