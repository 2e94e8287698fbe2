import type { NumberRun } from './segment-index/segment-directory.ts'

/** Sequence numbers of documents in order of arrival: they rise by one but for a few gaps, so only the gaps are kept. */
export class NumberRuns {
  readonly runs: NumberRun[] = []
  #distance = Number.NaN

  add(doc: number, value: number): void {
    if (value - doc === this.#distance) return
    this.#distance = value - doc
    this.runs.push([doc, value])
  }

  at(doc: number): number {
    return numberAt(this.runs, doc)
  }
}

export function numberAt(runs: readonly NumberRun[], doc: number): number {
  let low = 0
  let high = runs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (runs[middle]![0] <= doc) low = middle
    else high = middle - 1
  }
  const [from, first] = runs[low]!
  return first + (doc - from)
}
