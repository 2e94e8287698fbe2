/** Which fields there are. The store tells where it may be asked; for one tenant alone it may not, and records on the page tell. */
import { ExactNumber } from '../../../api/exact-json.ts'
import { fieldsOf, type LogRecord } from '../records/log-record.ts'
import { type FieldCatalog, type FieldKind, KNOWN_FIELDS } from '../search/field-catalog.ts'

export const FIELD_CAPS_PATH = '/service-logs-*/_field_caps?fields=*&ignore_unavailable=true'

const kindOfValue = (value: unknown): FieldKind =>
  typeof value === 'number' || value instanceof ExactNumber ? 'number' : typeof value === 'boolean' ? 'boolean' : 'keyword'

/** `catalog` and the fields of records that it lacks: those within objects by their dotted names. */
export function withFieldsOf(catalog: FieldCatalog, records: readonly LogRecord[]): FieldCatalog {
  const more = new Map<string, FieldKind>()
  for (const record of records)
    for (const { field } of fieldsOf(record)) {
      if (catalog.has(field) || KNOWN_FIELDS.has(field)) continue
      const kind = field.startsWith('attributes.') ? 'keyword' : kindOfValue(record.source[field])
      more.set(field, more.has(field) && more.get(field) !== kind ? 'keyword' : kind)
    }
  return more.size === 0 ? catalog : new Map([...catalog, ...more])
}
