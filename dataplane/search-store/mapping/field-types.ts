/** The field types the embedded search store knows, named as in OpenSearch. */
export const FIELD_TYPES = [
  'text',
  'match_only_text',
  'keyword',
  'long',
  'integer',
  'short',
  'byte',
  'double',
  'float',
  'boolean',
  'date',
  'flat_object',
  'object',
  'unsigned_long',
  'alias',
] as const
export type FieldType = (typeof FIELD_TYPES)[number]

export interface FieldMapping {
  readonly type: FieldType
  /** False: kept in `_source`, not searchable. */
  readonly index?: boolean
  /** The full path of the field that an alias stands for. */
  readonly target?: string
  /** Multi-fields, e.g. `keyword` under a dynamic text field. */
  readonly fields?: Readonly<Record<string, FieldMapping>>
  /** A type of OpenSearch whose values stand in `_source` alone; nothing else can be asked of the field. */
  readonly kept?: string
  /** Nanoseconds of a date count, in sorting and in queries. */
  readonly nanos?: true
  /** The values of a keyword are IP addresses. */
  readonly address?: true
  /** How the values of a date are written and shown, where not in ISO 8601 or milliseconds. */
  readonly format?: string
  /** Name of the normalizer that the values of a keyword pass before they are indexed. */
  readonly normalizer?: string
  /** Longer keyword values are kept but not indexed. */
  readonly ignoreAbove?: number
}

/** The fields of one index; grows as documents bring new ones. */
export interface IndexMapping {
  /** Mapping of a full dotted path (`http.route`, `message.keyword`); undefined when the index has no such field. Paths below a flat_object resolve to keyword. */
  field(path: string): FieldMapping | undefined
  /** All full dotted paths with a leaf type, aliases included, for query_string and wildcards. */
  paths(): readonly string[]
  /** As `GET /{index}/_mapping` shows it: `{ properties: { … } }`. */
  toJson(): Record<string, unknown>
}
