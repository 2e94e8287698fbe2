/** Partial updates, as OpenSearch merges them. */

const LONG_INTEGER = /\d{16}/

/** Like `JSON.parse`, but integers beyond 2^53 keep their digits when written again. */
export function parseExact(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const raw = JSON as unknown as { rawJSON(text: string): unknown }
  return JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source ?? '')
      ? raw.rawJSON(context.source!)
      : value) as (key: string, value: unknown) => unknown)
}

type JsonObject = Record<string, unknown>

const isMergeable = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) !== null

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
