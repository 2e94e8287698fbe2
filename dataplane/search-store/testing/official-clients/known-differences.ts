/** Where the embedded store answers unlike OpenSearch for a reason. A step that has become the same fails the suite until it is taken out here. */

interface KnownDifference {
  /** Client or tool, as the suite names it. */
  readonly of: string
  readonly step: string
  readonly why: string
}

const DASHBOARDS = 'OpenSearch Dashboards, Discover and its index patterns'
const ELASTICSEARCH_SOURCE = 'Grafana, Elasticsearch data source'
const FLUENT_BIT = 'fluent-bit, outputs opensearch and es'
const VECTOR = 'Vector, sink elasticsearch'

const METADATA = 'fields of documents themselves are told as what they can do here: none but _id and _index is searched'
const EXTERNAL_VERSIONS = 'versions are the store’s own'
const SCRIPTS = 'there are no scripts but arithmetic on buckets'

const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  { of: DASHBOARDS, step: 'fields of a pattern', why: METADATA },
  { of: 'Grafana, OpenSearch data source', step: 'fields', why: METADATA },
  { of: DASHBOARDS, step: 'a phrase', why: 'of a value found by `*` the text is marked, and not the keyword beside it' },
  { of: DASHBOARDS, step: 'a visualization: ranges and percentiles', why: '[docvalue_fields] of [top_hits] is declined' },
  { of: ELASTICSEARCH_SOURCE, step: 'rate', why: SCRIPTS },
  { of: ELASTICSEARCH_SOURCE, step: 'top metrics', why: 'one search of several that cannot be read is refused alone, not all of them' },
  { of: 'Java', step: 'field capabilities', why: 'OpenSearch 3.5 refuses fields in the body, where its client puts them' },
  { of: FLUENT_BIT, step: 'with a pipeline that is not there', why: 'there are no ingest pipelines' },
  { of: VECTOR, step: 'versions from outside', why: EXTERNAL_VERSIONS },
  { of: VECTOR, step: 'an older version from outside', why: EXTERNAL_VERSIONS },
  { of: VECTOR, step: 'all that was written', why: EXTERNAL_VERSIONS },
]

/** The differences nobody knows of, and the known ones that are none any more. */
export function unknownDifferences(of: string, differences: readonly string[]): readonly string[] {
  const known = KNOWN_DIFFERENCES.filter(each => each.of === of)
  const isOf = (difference: string, { step }: KnownDifference) => difference.startsWith(`${step} →`) || difference.startsWith(`${step}:`)
  return [
    ...differences.filter(difference => !known.some(each => isOf(difference, each))),
    ...known
      .filter(each => !differences.some(difference => isOf(difference, each)))
      .map(({ step }) => `${step}: the same, but known as different`),
  ]
}
