import { isJsonObject } from '../../json/is-json-object.ts'
import type { FieldsV1, KubernetesObject } from '../object.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The fields that somebody set, by what the API server notes of their managers, and that the object lacks, as one text; empty: none. A watch that began
 * before its CRD was updated leaves out the fields that the earlier CRD does not know. Items of lists are not looked into.
 */
export function missingFields({ apiVersion, metadata, ...object }: KubernetesObject): string {
  const entries = (metadata.managedFields ?? []).filter(entry => entry.apiVersion === apiVersion)
  const missing = entries.flatMap(({ fieldsV1 = {} }) => missingBelow(object, fieldsV1, ''))
  return [...new Set(missing)].sort().join()
}

function missingBelow(value: Fields, owned: FieldsV1, path: string): readonly string[] {
  return Object.entries(owned).flatMap(([key, below]) => {
    const name = key.slice(2)
    if (!key.startsWith('f:') || (path === '' && name === 'metadata')) return []
    const inner = value[name]
    if (inner === undefined) return [`${path}.${name}`]
    return isJsonObject(inner) ? missingBelow(inner, below, `${path}.${name}`) : []
  })
}
