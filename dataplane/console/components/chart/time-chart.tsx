/** Bars over time, stacked, in the colours of the theme; a range can be brushed, and a bar clicked. Draws with uPlot on a canvas. */
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatCount, formatShort, formatTime } from '../format.ts'
import { scaled } from '../layout/text-size.ts'
import { sayOffsetWhereItChanges } from '../time/clock.ts'
import { useShowsUtc } from '../time/use-shows-utc.ts'
import { bucketAt, type ChartSeries, sayChart, stack } from './stack.ts'
import styles from './time-chart.module.css'

export interface TimeChartProps {
  /** The title of its content, without the figures: `Records by level`. */
  readonly label: string
  /** Where each bar begins, ms since the epoch, in order; bars without records, too. */
  readonly starts: readonly number[]
  readonly bucketMs: number
  /** The first is drawn on top of the others. */
  readonly series: readonly ChartSeries[]
  /** At the usual size of text, px. */
  readonly height?: number
  /** The value at the top, at least: gives charts beside each other one scale. */
  readonly most?: number
  /** A range was brushed, or one bar was clicked: fingers cannot brush. Whole bars. */
  readonly onSelect?: (fromMs: number, toMs: number) => void
}

interface Tip {
  readonly left: number
  readonly index: number
}

const TIP_WIDTH = 172
/** A shorter drag is a click. */
const MIN_BRUSH_PX = 3
/** A click that comes sooner belongs to a double click, and may stand on bars that the first one made. */
const DOUBLE_CLICK_MS = 500

export function TimeChart({ label, starts, bucketMs, series, height: usualHeight = 140, most = 1, onSelect }: TimeChartProps) {
  const height = scaled(usualHeight)
  const { ref, width } = useElementSize()
  const scheme = useComputedColorScheme()
  const isUtc = useShowsUtc()
  const canvas = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const select = useRef(onSelect)
  select.current = onSelect
  const lastClick = useRef(Number.NEGATIVE_INFINITY)
  const [tip, setTip] = useState<Tip>()
  const names = series.map(({ name, color }) => `${name} ${color}`).join()
  const isSelectable = onSelect !== undefined

  const hooks: uPlot.Hooks.Arrays = {
    setCursor: [
      plotted => {
        const index = barUnderCursor(plotted, bucketMs)
        setTip(index === undefined ? undefined : { index, left: plotted.cursor.left! + plotted.bbox.left / devicePixelRatio })
      },
    ],
    setSelect: [
      plotted => {
        const { left, width: size } = plotted.select
        if (size < MIN_BRUSH_PX) return
        const startOf = (x: number) => (plotted.posToVal(x, 'x') * 1_000) / bucketMs
        plotted.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        select.current?.(Math.floor(startOf(left)) * bucketMs, Math.ceil(startOf(left + size)) * bucketMs)
      },
    ],
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot is made anew when what it looks like changes; data goes in below
  useEffect(() => {
    if (canvas.current === null || width === 0) return
    const made = new uPlot({ ...plotOptions({ width, height, series, bucketMs, most, isUtc, isSelectable }), hooks }, [[]], canvas.current)
    plot.current = made
    made.over.addEventListener('click', ({ timeStamp }) => {
      const clicked = filledBar(made, bucketMs)
      if (clicked === undefined || timeStamp - lastClick.current < DOUBLE_CLICK_MS) return
      lastClick.current = timeStamp
      select.current?.(clicked, clicked + bucketMs)
    })
    return () => {
      made.destroy()
      plot.current = undefined
    }
  }, [width, height, names, bucketMs, most, scheme, isUtc, isSelectable])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a plot that was made anew gets its data again
  useEffect(() => {
    plot.current?.setData([starts.map(start => start / 1_000), ...stack(series, starts.length).map(line => [...line])] as uPlot.AlignedData)
  }, [starts, series, width, height, names, bucketMs, most, scheme, isUtc, isSelectable])

  const tipWidth = scaled(TIP_WIDTH)
  const at = tip === undefined ? undefined : starts[tip.index]
  const offset = at === undefined ? undefined : sayOffsetWhereItChanges(at, starts[0]!, starts.at(-1)!)
  return (
    <div
      ref={ref}
      className={styles.chart}
      style={{ height }}
      role="img"
      aria-label={`${label}: ${sayChart(series)}`}
      onMouseLeave={() => setTip(undefined)}
    >
      <div ref={canvas} />
      {tip !== undefined && at !== undefined && (
        <div
          className={styles.tip}
          style={{ left: tip.left > width - tipWidth - 16 ? tip.left - tipWidth - 12 : tip.left + 12, width: tipWidth }}
        >
          <strong>{formatTime(at).slice(0, 19)}</strong>
          {offset !== undefined && <span>{offset}</span>}
          {series.map(({ name, color, values }) => (
            <span key={name}>
              <i style={{ background: `var(${color})` }} />
              {name}
              <b>{formatCount(values[tip.index] ?? 0)}</b>
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

/** The index of the bar whose time the cursor is at; the plot's own index is that of the closest start, which in the right half of a bar is the next one's. */
function barUnderCursor({ cursor: { left = -1 }, data: [starts], posToVal }: uPlot, bucketMs: number): number | undefined {
  return left < 0 ? undefined : bucketAt(starts, bucketMs / 1_000, posToVal(left, 'x'))
}

/** Where the bar under the cursor begins, ms; undefined where there is none. */
function filledBar(plot: uPlot, bucketMs: number): number | undefined {
  const index = barUnderCursor(plot, bucketMs)
  const [starts, ...lines] = plot.data
  if (index === undefined || lines.every(line => (line[index] ?? 0) === 0)) return undefined
  return Math.round(starts[index]! * 1_000)
}

export function ChartLegend({ series }: { readonly series: readonly ChartSeries[] }) {
  return (
    <div className={styles.legend}>
      {series.map(({ name, color }) => (
        <span key={name}>
          <i style={{ background: `var(${color})` }} />
          {name}
        </span>
      ))}
    </div>
  )
}

interface PlotLook {
  readonly width: number
  readonly height: number
  readonly series: readonly ChartSeries[]
  readonly bucketMs: number
  readonly most: number
  readonly isUtc: boolean
  readonly isSelectable: boolean
}

function plotOptions({ width, height, series, bucketMs, most, isUtc, isSelectable }: PlotLook): uPlot.Options {
  const root = getComputedStyle(document.documentElement)
  const color = (name: string) => root.getPropertyValue(name).trim()
  const font = `${scaled(11)}px ${color('--font-ui')}`
  const grid = { stroke: color('--chart-grid'), width: 1 }
  const bars = uPlot.paths.bars!({ size: [0.86, 64], align: 1, gap: 0 })
  return {
    width,
    height,
    ...(isUtc && { tzDate: seconds => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') }),
    legend: { show: false },
    padding: [8, 18, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: isSelectable, y: false, setScale: false } },
    scales: {
      x: { time: true, range: (_, min, max) => [min, max + bucketMs / 1_000] },
      y: { range: (_, __, max) => [0, Math.max(max * 1.06, most)] },
    },
    axes: [
      // The gap keeps the first label, which a date makes wide, below the 0 of the other axis.
      {
        stroke: color('--text-faint'),
        font,
        size: scaled(26),
        gap: 8,
        grid: { show: false },
        ticks: { show: false },
        space: scaled(72),
        values: CLOCK,
      },
      {
        stroke: color('--text-faint'),
        font,
        size: scaled(44),
        gap: 6,
        grid,
        ticks: { show: false },
        space: scaled(26),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8, 1e9],
        values: (_, ticks) => ticks.map(formatShort),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color: variable }) => ({
        label: name,
        fill: color(variable),
        width: 0,
        paths: bars,
        points: { show: false },
      })),
    ],
  }
}

/** Clock times of 24 hours, with the date at the first of a day. */
const CLOCK: uPlot.Axis.Values = [
  [86_400, '{D} {MMM}', null, null, null, null, null, null, 1],
  [3_600, '{HH}:{mm}', null, null, ' {D} {MMM}', null, null, null, 1],
  [60, '{HH}:{mm}', null, null, ' {D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 0],
]
