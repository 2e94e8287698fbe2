import { createHash } from 'node:crypto'
import { isJsonObject } from '../../dataplane/json/is-json-object.ts'

/** 32 hex digits over a JSON value; the order of its members does not count. */
export function inputsHash(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}
