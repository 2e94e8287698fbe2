/** The fields of log documents, as far as the search needs to know them. */

export type FieldKind = 'text' | 'keyword' | 'number' | 'date' | 'boolean' | 'flat' | 'stored'

export type FieldCatalog = ReadonlyMap<string, FieldKind>

/** Fields that every log document has (Spec: Indexed log document). Others are known once the store has told of them. */
export const KNOWN_FIELDS: FieldCatalog = new Map<string, FieldKind>([
  ['timestamp', 'date'],
  ['level', 'keyword'],
  ['service', 'keyword'],
  ['message', 'text'],
  ['host', 'keyword'],
  ['environment', 'keyword'],
  ['region', 'keyword'],
  ['trace_id', 'keyword'],
  ['span_id', 'keyword'],
  ['log_id', 'keyword'],
  ['tenant_id', 'keyword'],
  ['batch_id', 'keyword'],
  ['pattern_id', 'keyword'],
  ['pattern', 'stored'],
  ['time_unix_nano', 'stored'],
  ['severity_number', 'number'],
  ['nanos', 'number'],
  ['anomaly_score', 'number'],
  ['rule_score', 'number'],
  ['is_anomaly', 'boolean'],
  ['enriched', 'boolean'],
  ['ml_error_rate_1h', 'number'],
  ['ml_p99_latency_1h', 'number'],
  ['ml_request_rate_1h', 'number'],
  ['ml_anomaly_history_count', 'number'],
  ['attributes', 'flat'],
])

const KIND_OF_TYPE: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries<FieldKind>({
    text: 'text',
    match_only_text: 'text',
    keyword: 'keyword',
    constant_keyword: 'keyword',
    wildcard: 'keyword',
    ip: 'keyword',
    version: 'keyword',
    date: 'date',
    date_nanos: 'date',
    boolean: 'boolean',
    flat_object: 'flat',
    ...Object.fromEntries(
      ['long', 'integer', 'short', 'byte', 'double', 'float', 'half_float', 'scaled_float', 'unsigned_long'].map(type => [type, 'number']),
    ),
  }),
)

/** The catalogue of an answer of `_field_caps`. A field with several types is searched as a keyword, which refuses nothing. */
export function readFieldCaps(answer: unknown): FieldCatalog {
  const fields = (answer as { fields?: Readonly<Record<string, Readonly<Record<string, { searchable?: boolean }>>>> })?.fields ?? {}
  const catalog = new Map(KNOWN_FIELDS)
  for (const [name, types] of Object.entries(fields)) {
    if (name.startsWith('_') || KNOWN_FIELDS.has(name)) continue
    const kinds = new Set(Object.keys(types).flatMap(type => KIND_OF_TYPE.get(type) ?? []))
    if (kinds.size === 0 || name.startsWith('attributes.')) continue
    catalog.set(name, kinds.size === 1 ? [...kinds][0]! : 'keyword')
  }
  return catalog
}

/** The kind of a field; one that nobody has heard of is a keyword. */
export function kindOfField(catalog: FieldCatalog, field: string): FieldKind {
  return catalog.get(field) ?? 'keyword'
}

/** Whether values of a field can be counted. */
export const isCountable = (kind: FieldKind): boolean => kind === 'keyword' || kind === 'number' || kind === 'boolean'
