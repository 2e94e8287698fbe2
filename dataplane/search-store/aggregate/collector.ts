/** Collects the matches of a search, segment by segment, into the answer of one aggregation. */
import type { MatchView } from './match-view.ts'

export interface Collector {
  /** `places`: the matches to take; undefined takes all. */
  collect(view: MatchView, places: Uint32Array | undefined): void
  /** The aggregation's part of the response; called once, at the end. */
  result(): Record<string, unknown>
  /** The value a parent orders its buckets by. */
  orderValue?(metric: string | undefined): number
}

/** Calls `visit` for each place. */
export function eachPlace(view: MatchView, places: Uint32Array | undefined, visit: (place: number) => void): void {
  if (places === undefined) for (let place = 0; place < view.size; place++) visit(place)
  else for (let at = 0; at < places.length; at++) visit(places[at]!)
}
