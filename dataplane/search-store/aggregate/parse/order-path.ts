/** Paths of orders: `stats.max`, `percentiles[99.0]`, `errors>latency.avg`. */
export interface OrderPath {
  /** Names of aggregations, each below the one before. */
  readonly names: readonly string[]
  /** The name of a value of the last aggregation; undefined: its only value. */
  readonly metric: string | undefined
}

export function orderPath(text: string): OrderPath {
  const names = text.split('>')
  const [, name = '', dotted, bracketed] = /^([^.[]*)(?:\.(.*)|\[(.*)\])?$/s.exec(names.at(-1)!) ?? []
  return { names: [...names.slice(0, -1), name], metric: dotted ?? bracketed }
}
