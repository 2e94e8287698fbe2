/** Names of OpenSearch's metadata fields, by where each is refused: this store keeps `_id` and `_index` alone of them. */
import { words } from '../json/json-reader.ts'

const OF_EVERY_DOCUMENT = words('_source _routing _field_names _seq_no _version _ignored _nested_path')

/** Documents cannot bring fields of these names. */
export const NOT_IN_DOCUMENTS: ReadonlySet<string> = new Set([...OF_EVERY_DOCUMENT, '_id', '_index', '_data_stream_timestamp'])

/** Queries on these are refused: to find nothing would be a wrong answer. */
export const NOT_QUERIED: ReadonlySet<string> = new Set([...OF_EVERY_DOCUMENT, '_primary_term', '_type'])

/** Aggregations on these are refused: buckets of nothing would be a wrong answer. */
export const NOT_AGGREGATED: ReadonlySet<string> = new Set([...OF_EVERY_DOCUMENT, ...words('_id _index _primary_term _doc_count _tier')])
