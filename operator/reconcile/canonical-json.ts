import { createHash } from 'node:crypto'

/** JSON whose members are in the order of their names: equal values give equal texts. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item ?? null)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = value as Readonly<Record<string, unknown>>
  const members = Object.keys(fields).sort()
  const present = members.filter(name => fields[name] !== undefined)
  return `{${present.map(name => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`).join()}}`
}

/** 16 hex digits. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16)
}
