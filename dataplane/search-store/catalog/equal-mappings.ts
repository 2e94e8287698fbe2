import { createHash } from 'node:crypto'
import type { JsonObject } from '../json/json-reader.ts'

/** Lets indices that were made with the same mappings, as those of each day, hold them once. */
export class EqualMappings {
  readonly #known = new Map<string, WeakRef<JsonObject>>()
  readonly #gone = new FinalizationRegistry<string>(key => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key)
  })

  /** The object that was given first of those with the same JSON. */
  of(mappings: JsonObject): JsonObject {
    const key = createHash('sha256').update(JSON.stringify(mappings)).digest('base64')
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    this.#known.set(key, new WeakRef(mappings))
    this.#gone.register(mappings, key)
    return mappings
  }
}
