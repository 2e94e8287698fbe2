/** The part of the query DSL that fakes need; anything else throws, so that no test passes by accident. */
export type Document = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, unknown>>

const MATCHERS: Readonly<Record<string, (argument: never, id: string, document: Document) => boolean>> = {
  match_all: () => true,
  term: (argument: Query, _id, document) => entries(argument).every(([field, value]) => values(document, field).includes(plain(value))),
  terms: (argument: Query, _id, document) =>
    entries(argument).every(([field, wanted]) => values(document, field).some(value => (wanted as unknown[]).includes(value))),
  ids: (argument: { values: string[] }, id) => argument.values.includes(id),
  exists: (argument: { field: string }, _id, document) => values(document, argument.field).length > 0,
  range: (argument: Readonly<Record<string, Query>>, _id, document) =>
    Object.entries(argument).every(([field, bounds]) => values(document, field).some(value => within(value, bounds))),
  bool: (argument: Query, id, document) => {
    const all = (clause: string) => [argument[clause] ?? []].flat() as Query[]
    const should = all('should')
    return (
      [...all('filter'), ...all('must')].every(query => matches(query, id, document)) &&
      !all('must_not').some(query => matches(query, id, document)) &&
      (should.length === 0 || all('filter').length + all('must').length > 0 || should.some(query => matches(query, id, document)))
    )
  },
}

export function matches(query: Query, id: string, document: Document): boolean {
  return entries(query).every(([kind, argument]) => {
    const matcher = MATCHERS[kind]
    if (matcher === undefined) throw new Error(`the in-memory search store does not know the query ${kind}`)
    return matcher(argument as never, id, document)
  })
}

const BOUNDS: Readonly<Record<string, (value: string | number, bound: string | number) => boolean>> = {
  gte: (value, bound) => value >= bound,
  gt: (value, bound) => value > bound,
  lte: (value, bound) => value <= bound,
  lt: (value, bound) => value < bound,
}

function within(value: unknown, bounds: Query): boolean {
  return entries(bounds)
    .filter(([name]) => name !== 'format')
    .every(([name, bound]) => BOUNDS[name]!(comparable(value), comparable(bound)))
}

/** Dates compare by their time, everything else as it is. */
export function comparable(value: unknown): string | number {
  if (typeof value === 'number') return value
  const timeMs = /^\d{4}-\d\d-\d\dT/.test(String(value)) ? Date.parse(String(value)) : Number.NaN
  return Number.isNaN(timeMs) ? String(value) : timeMs
}

function values(document: Document, field: string): unknown[] {
  const value =
    field in document ? document[field] : field.split('.').reduce<unknown>((at, key) => (at as Document | undefined)?.[key], document)
  return value === undefined || value === null ? [] : [value].flat()
}

function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'value' in value ? value.value : value
}

function entries(query: Query): [string, unknown][] {
  return Object.entries(query)
}
