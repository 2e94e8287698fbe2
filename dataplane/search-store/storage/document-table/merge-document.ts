/** Partial updates, as OpenSearch merges them. */

import { isJsonObject } from '../../../json/is-json-object.ts'

type JsonObject = Record<string, unknown>

const isMergeable = (value: unknown): value is JsonObject => isJsonObject(value) && Object.getPrototypeOf(value) !== null

/** Objects merge member by member, anything else is replaced. Returns the same object when nothing changes. */
export function mergeDocument(stored: JsonObject, partial: JsonObject): JsonObject {
  let merged: JsonObject | undefined
  for (const [key, value] of Object.entries(partial)) {
    const before = Object.hasOwn(stored, key) ? stored[key] : undefined
    const after = isMergeable(before) && isMergeable(value) ? mergeDocument(before, value) : value
    if (after === before || (before !== undefined && JSON.stringify(after) === JSON.stringify(before))) continue
    merged ??= copyOf(stored)
    Object.defineProperty(merged, key, { value: after, enumerable: true, writable: true, configurable: true })
  }
  return merged ?? stored
}

/** A copy that also takes a member named `__proto__` as data. */
function copyOf(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object))
}
