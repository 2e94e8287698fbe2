import type { AnyValue, KeyValue } from '../otlp/payload.ts'
import { anyValueJson } from './any-value.ts'

/**
 * Attributes by their dotted key, each value as compact JSON text. A Map, so that no key is special (`__proto__`);
 * in the order in which the keys first appeared.
 */
export type FlatAttributes = ReadonlyMap<string, string>

/**
 * Resource, scope and record attributes as one flat set: merged in that order, the later wins; duplicate keys: the last
 * wins; nested maps flatten with dots; arrays stay JSON values (Spec: Pipeline rules 2; Decisions 4).
 */
export function flattenAttributes(...levels: readonly (readonly KeyValue[] | undefined)[]): FlatAttributes {
  const flat = new Map<string, string>()
  for (const level of levels) for (const { key = '', value } of level ?? []) addFlat(flat, key, value)
  return flat
}

function addFlat(flat: Map<string, string>, key: string, value: AnyValue | undefined): void {
  const nested = value?.kvlistValue?.values
  if (nested === undefined || nested.length === 0) flat.set(key, anyValueJson(value, 'typed'))
  else for (const entry of nested) addFlat(flat, `${key}.${entry.key ?? ''}`, entry.value)
}

/** A key with dots replaced by underscores: `service.name` becomes `service_name` (Spec: Pipeline rules 2). */
export function flattenKey(key: string): string {
  return key.includes('.') ? key.replaceAll('.', '_') : key
}

/** The text of a flat value as a field holds it: a string itself, anything else its JSON; undefined for null and the empty string. */
export function flatText(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null' || json === '""') return undefined
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}
