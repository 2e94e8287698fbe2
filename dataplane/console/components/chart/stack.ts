/** Series on top of each other, as a chart draws them. */
export interface ChartSeries {
  readonly name: string
  /** A colour of `tokens.css`: `--chart-error`. */
  readonly color: string
  /** One value for each bucket. */
  readonly values: readonly number[]
}

const LEVEL_COLORS: ReadonlyMap<string, string> = new Map([
  ['FATAL', '--chart-fatal'],
  ['ERROR', '--chart-error'],
  ['WARN', '--chart-warn'],
  ['INFO', '--chart-info'],
  ['DEBUG', '--chart-debug'],
  ['TRACE', '--chart-trace'],
])

/** A series for each level, in the order of `levels`; levels without a record are left out. */
export function levelSeries<L extends string>(levels: readonly L[], valuesOf: (level: L) => readonly number[]): readonly ChartSeries[] {
  const series = levels.map(level => ({
    name: LEVEL_COLORS.has(level) ? level : 'other',
    color: LEVEL_COLORS.get(level) ?? '--line-strong',
    values: valuesOf(level),
  }))
  return series.filter(({ values }) => values.some(value => value > 0))
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

/** The index of the bucket that a time is in. `starts` are a bucket apart; at the end of the last one its bucket still is. */
export function bucketAt(starts: ArrayLike<number>, bucket: number, time: number): number | undefined {
  const first = starts[0]
  if (first === undefined || time < first) return undefined
  return Math.min(Math.floor((time - first) / bucket), starts.length - 1)
}

/** The content of a chart in one sentence, for screen readers. */
export function sayChart(series: readonly ChartSeries[]): string {
  const totals = series
    .map(({ name, values }) => [name, values.reduce((sum, value) => sum + value, 0)] as const)
    .filter(([, total]) => total > 0)
  return totals.length === 0 ? 'nothing' : totals.map(([name, total]) => `${name} ${total}`).join(', ')
}
