/** Paths of orders: `stats.max`, `percentiles[99.0]`, `errors>latency.avg`. */
export interface OrderPath {
  /** Of aggregations, each below the one before. */
  readonly names: readonly string[]
  /** Of the last one's values; undefined: its only one. */
  readonly metric: string | undefined
}

export function orderPath(text: string): OrderPath {
  const names = text.split('>')
  const [, name = '', dotted, bracketed] = /^([^.[]*)(?:\.(.*)|\[(.*)\])?$/s.exec(names.at(-1)!) ?? []
  return { names: [...names.slice(0, -1), name], metric: dotted ?? bracketed }
}
