/** The part of the query DSL that fakes need; anything else throws, so that no test passes by accident. */
export type Document = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, unknown>>

/** Whether a query finds a document. */
type Matcher = (id: string, document: Document) => boolean

const MATCHERS: Readonly<Record<string, (argument: never) => Matcher>> = {
  match_all: () => () => true,
  term: (argument: Query) =>
    each(
      argument,
      ([field, value]) =>
        (_id, document) =>
          values(document, field).includes(value),
      plain,
    ),
  terms: (argument: Query) =>
    each(argument, ([field, terms]) => {
      const wanted = new Set(terms as unknown[])
      return (_id, document) => values(document, field).some(value => wanted.has(value))
    }),
  ids: (argument: { values: string[] }) => id => argument.values.includes(id),
  constant_score: ({ filter }: { filter: Query }) => matcherOf(filter),
  exists: (argument: { field: string }) => (_id, document) => values(document, argument.field).length > 0,
  range: (argument: Readonly<Record<string, Query>>) =>
    each(
      argument,
      ([field, bounds]) =>
        (_id, document) =>
          values(document, field).some(value => within(value, bounds as Query)),
    ),
  bool(argument: Query) {
    const all = (clause: string) => ([argument[clause] ?? []].flat() as Query[]).map(matcherOf)
    const needed = [...all('filter'), ...all('must')]
    const refused = all('must_not')
    const should = all('should')
    return (id, document) =>
      needed.every(matches => matches(id, document)) &&
      !refused.some(matches => matches(id, document)) &&
      (should.length === 0 || needed.length > 0 || should.some(matches => matches(id, document)))
  },
}

/** The score of a document by the `constant_score` queries in the `should` of a `bool`, the only ones that score here. */
export function scorerOf({ bool }: Query): (id: string, document: Document) => number {
  const clauses = ([(bool as Query | undefined)?.['should'] ?? []].flat() as Query[]).flatMap(({ constant_score: scored }) => {
    if (scored === undefined) return []
    const { filter, boost } = scored as { readonly filter: Query; readonly boost: number }
    return [{ matches: matcherOf(filter), boost }]
  })
  return (id, document) => clauses.reduce((sum, { matches, boost }) => (matches(id, document) ? sum + boost : sum), 0)
}

/** Throws for a query that fakes do not know. */
export function matcherOf(query: Query): Matcher {
  return each(query, ([kind, argument]) => {
    const matcher = MATCHERS[kind]
    if (matcher === undefined) throw new Error(`the in-memory search store does not know the query ${kind}`)
    return matcher(argument as never)
  })
}

function each(query: Query, matcher: (entry: [string, unknown]) => Matcher, read: (value: unknown) => unknown = value => value): Matcher {
  const matchers = Object.entries(query).map(([name, value]) => matcher([name, read(value)]))
  return (id, document) => matchers.every(matches => matches(id, document))
}

const BOUNDS: Readonly<Record<string, (value: string | number, bound: string | number) => boolean>> = {
  gte: (value, bound) => value >= bound,
  gt: (value, bound) => value > bound,
  lte: (value, bound) => value <= bound,
  lt: (value, bound) => value < bound,
}

function within(value: unknown, bounds: Query): boolean {
  return Object.entries(bounds)
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
  if (Array.isArray(value)) return value.flat()
  return value === undefined || value === null ? [] : [value]
}

function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'value' in value ? value.value : value
}
