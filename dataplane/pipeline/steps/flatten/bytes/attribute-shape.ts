/** The shape of a list of attribute keys: all about it that does not depend on the values. */
import { isCanonicalName, isTopLevelKey } from '../../../../domain/documents/field-names.ts'
import { CANONICAL_SOURCES } from '../../../../domain/records/canonical-fields.ts'
import { stableKeys } from '../../../../domain/records/document-id.ts'
import { EXCEPTION_KEYS } from '../../../../domain/records/exception-message.ts'
import { flattenKey } from '../../../../domain/records/flatten.ts'
import { type Piece, pieceOf } from './piece.ts'

/** Everything about a list of attribute keys that does not depend on the values: records of one kind of log line share it. */
export interface AttributeShape {
  /** No other shape has it. */
  readonly id: number
  /** False when the keys need the rules one by one: repeated ones, or such as fill a canonical field. */
  readonly isPlain: boolean
  /** Whether the values may tell what a record says that has no text. */
  readonly hasException: boolean
  readonly flatNames: readonly string[]
  readonly topLevelKeys: readonly string[]
  /** Members with flattened keys, members at the top level of a document, and members that are folded, each with its key up to the value. */
  readonly flattened: readonly Member[]
  readonly topLevel: readonly Member[]
  readonly folded: readonly Member[]
  /** Positions of the values in the order of the keys. */
  readonly sorted: readonly number[]
  /** `stableKeys`, and its length in UTF-16 code units. */
  readonly stableKeys: Piece
  readonly stableKeysLength: number
}

export interface Member {
  /** Position of the value among those of the record. */
  readonly value: number
  /** Comma, key, colon. */
  readonly prefix: Piece
}

/** Keys that may fill a canonical field, and so cannot be treated by shape alone. */
const SPECIAL_KEYS: ReadonlySet<string> = new Set([...CANONICAL_SOURCES, 'tenant_id'])

let lastId = 0

export function buildShape(keys: readonly string[]): AttributeShape {
  const flatNames = keys.map(flattenKey)
  const sorted = keys.map((_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1))
  const stable = stableKeys(sorted.map(i => keys[i]!))
  return {
    id: lastId++,
    isPlain: new Set(flatNames).size === keys.length && !keys.some(key => SPECIAL_KEYS.has(key)),
    hasException: EXCEPTION_KEYS.some(key => keys.includes(key)),
    flatNames,
    topLevelKeys: keys.filter(isTopLevelKey),
    flattened: membersOf(flatNames, name => !isCanonicalName(name)),
    topLevel: membersOf(keys, isTopLevelKey),
    folded: membersOf(keys, key => !isTopLevelKey(key)),
    sorted,
    stableKeys: pieceOf(stable),
    stableKeysLength: stable.length,
  }
}

function membersOf(names: readonly string[], belongs: (name: string) => boolean): readonly Member[] {
  return names.flatMap((name, value) => (belongs(name) ? [{ value, prefix: pieceOf(`,${JSON.stringify(name)}:`) }] : []))
}
