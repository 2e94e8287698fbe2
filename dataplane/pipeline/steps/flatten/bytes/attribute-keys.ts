/** Remembers the lists of attribute keys that records have, each with its shape. */
import { NOWHERE, plainStringEnd, startsWith } from '../../../../json/bytes.ts'
import { type AttributeShape, buildShape } from './attribute-shape.ts'

/** Name of the attribute that keeps the record's own severity text. */
const SEVERITY_TEXT = 'severity_text'

/** A list of keys seen before, and the lists seen that go on from it. */
export class KeyList {
  readonly keys: readonly string[]
  /** The last key up to its closing quote, as it stands in the message. */
  readonly lastKey: Uint8Array
  readonly next: KeyList[] = []
  #shape: AttributeShape | undefined
  #shapeWithSeverity: AttributeShape | undefined

  constructor(keys: readonly string[], lastKey: Uint8Array) {
    this.keys = keys
    this.lastKey = lastKey
  }

  /** The shape of these attributes, with `severity_text` at the end when the record has one. */
  shape(hasSeverityText: boolean): AttributeShape {
    if (!hasSeverityText) {
      this.#shape ??= buildShape(this.keys)
      return this.#shape
    }
    this.#shapeWithSeverity ??= buildShape([...this.keys, SEVERITY_TEXT])
    return this.#shapeWithSeverity
  }
}

/** Longer lists are not worth remembering. */
export const MAX_KEYS = 64
/** Keys that may follow a list, and keys of all lists together; more kinds of log lines than that at a time are rare. */
const MAX_NEXT = 32
const MAX_KEYS_OF_ALL = 40_000

/** Remembers lists of attribute keys as a tree: each key is compared with the ones that followed the same keys before. */
export class AttributeKeys {
  root = new KeyList([], new Uint8Array())
  #keysOfAll = 0

  /** The list with the key whose text starts at `p`; undefined when the key has escapes or the list grows too long. */
  follow(list: KeyList, b: Buffer, p: number): KeyList | undefined {
    const { next } = list
    for (let i = 0; i < next.length; i++) {
      const found = next[i]!
      if (!startsWith(b, p, found.lastKey)) continue
      if (i > 0) {
        next[i] = next[i - 1]!
        next[i - 1] = found
      }
      return found
    }
    return this.#add(list, b, p)
  }

  #add(list: KeyList, b: Buffer, p: number): KeyList | undefined {
    const end = plainStringEnd(b, p - 1)
    if (end === NOWHERE || list.keys.length === MAX_KEYS) return undefined
    if (this.#keysOfAll > MAX_KEYS_OF_ALL) {
      this.root = new KeyList([], new Uint8Array())
      this.#keysOfAll = 0
    }
    const added = new KeyList([...list.keys, b.toString('utf8', p, end - 1)], Uint8Array.from(b.subarray(p, end)))
    if (list.next.length === MAX_NEXT) list.next.pop()
    list.next.push(added)
    this.#keysOfAll += added.keys.length
    return added
  }
}
