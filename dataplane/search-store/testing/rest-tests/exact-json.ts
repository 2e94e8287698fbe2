/** JSON whose whole numbers keep all their digits: those beyond 2^53 are `bigint`. */

export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value,
  )
}

export function toExactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return JSON.stringify(value.toISOString())
  if (Array.isArray(value)) return `[${value.map(toExactJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = value instanceof Map ? [...value] : Object.entries(value)
    return `{${entries.map(([key, member]) => `${JSON.stringify(String(key))}:${toExactJson(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
