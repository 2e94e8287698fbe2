/** Series on top of each other, as a chart draws them. */
export interface ChartSeries {
  readonly name: string
  /** A colour of `tokens.css`: `--chart-error`. */
  readonly color: string
  /** One value for each bucket. */
  readonly values: readonly number[]
}

/** Cumulated from the last series up, so that the first one stands on top: each line holds its own values and those of all series behind it. */
export function stack(series: readonly ChartSeries[], length: number): readonly (readonly number[])[] {
  const lines: number[][] = []
  let below: readonly number[] = new Array<number>(length).fill(0)
  for (const { values } of series.toReversed()) {
    const line = below.map((sum, i) => sum + (values[i] ?? 0))
    lines.unshift(line)
    below = line
  }
  return lines
}

/** Every bucket of the window, those without records, too: `fromMs` to `toMs` in steps of `bucketMs`, whole ones. */
export function bucketStarts({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }, bucketMs: number): readonly number[] {
  const starts: number[] = []
  for (let at = Math.floor(fromMs / bucketMs) * bucketMs; at < toMs; at += bucketMs) starts.push(at)
  return starts
}

/** The content of a chart in one sentence, for screen readers. */
export function sayChart(series: readonly ChartSeries[]): string {
  const totals = series
    .map(({ name, values }) => [name, values.reduce((sum, value) => sum + value, 0)] as const)
    .filter(([, total]) => total > 0)
  return totals.length === 0 ? 'nothing' : totals.map(([name, total]) => `${name} ${total}`).join(', ')
}
