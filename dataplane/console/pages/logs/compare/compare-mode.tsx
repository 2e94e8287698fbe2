/** This time beside an earlier one: what is new, what has gone, what there is more or less of. */
import { Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { searchLogs, searchLogsEach } from '../../../api/search.ts'
import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import type { ChartSeries } from '../../../components/chart/stack.ts'
import { TimeChart } from '../../../components/chart/time-chart.tsx'
import { compareCounts, formatCount } from '../../../components/format.ts'
import { type Column, DataTable } from '../../../components/layout/data-table.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { keepUnless } from '../../../components/states/keep-shown.ts'
import { EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { sayWindow, type TimeWindow } from '../../../url-state/time-range.ts'
import { useLogsActions } from '../filters.ts'
import { PatternCell } from '../patterns/pattern-cell.tsx'
import { ChangePill } from '../patterns/patterns-mode.tsx'
import { type CompareRow, type CompareWith, type Comparison, compareBody, otherWindow, readComparison } from '../requests/compare.ts'
import { barMsFor, type Histogram, histogramBody, readHistogram } from '../requests/histogram.ts'
import { type PatternTrend, patternDetailsBody, readPatternDetails } from '../requests/patterns.ts'
import type { Scope } from '../requests/scope.ts'
import { logsKey } from '../use-logs.ts'
import styles from './compare-mode.module.css'

export interface CompareModeProps {
  readonly scope: Scope | undefined
  readonly compareWith: CompareWith
  readonly onCompareWith: (compareWith: CompareWith) => void
}

const CHOICES: readonly { readonly value: CompareWith; readonly label: string }[] = [
  { value: 'before', label: 'The time just before' },
  { value: '1h', label: 'An hour earlier' },
  { value: '1d', label: 'A day earlier' },
  { value: '1w', label: 'A week earlier' },
]
/** Rows of a card. */
const SHOWN_ROWS = 15
const BARS = 60

export function CompareMode({ scope, compareWith, onCompareWith }: CompareModeProps) {
  const query = useQuery({
    queryKey: logsKey('compare', scope, compareWith),
    enabled: scope !== undefined,
    queryFn: async ({ signal }) => {
      const { query: searched, window } = scope!
      const other = otherWindow(window, compareWith)
      const barMs = barMsFor(window, BARS)
      const bodies = [
        ...[window, other].map(one => compareBody(searched, one)),
        ...[window, other].map(one => histogramBody({ query: searched, window: one }, barMs)),
      ]
      const [now, before, bars, barsBefore] = await searchLogsEach(bodies, signal)
      return {
        scope: scope!,
        other,
        comparison: readComparison(now, before),
        bars: readHistogram(bars, window, barMs),
        barsBefore: readHistogram(barsBefore, other, barMs),
      }
    },
    placeholderData: before => keepUnless(before, ({ comparison: { total, totalBefore } }) => total + totalBefore === 0),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data, error } = query
  if (error !== null) return <ErrorPanel error={error} onRetry={() => query.refetch()} />
  if (data === undefined) return <Pending what="Comparing" />
  const { total, totalBefore } = data.comparison
  return (
    <div className={styles.compare}>
      <div className={styles.with}>
        <Select
          label="Compare this time with"
          data={[...CHOICES]}
          value={compareWith}
          onChange={value => value !== null && onCompareWith(value as CompareWith)}
          comboboxProps={{ withinPortal: true }}
        />
        <Total title="This time" window={data.scope.window} count={total} />
        <Total title={CHOICES.find(({ value }) => value === compareWith)!.label} window={data.other} count={totalBefore} />
        <div className={styles.total}>
          <span>Change</span>
          <strong>{totalBefore === 0 ? '–' : compareCounts(total, totalBefore).text}</strong>
          <small>of all records</small>
        </div>
      </div>
      {total + totalBefore === 0 ? (
        <EmptyState title="Nothing to compare">
          <p>No record of either time matches. Choose a longer time, or fewer terms.</p>
        </EmptyState>
      ) : (
        <>
          <div className={styles.charts}>
            <Bars label="This time" histogram={data.bars} most={mostOf(data.bars, data.barsBefore)} />
            <Bars
              label={CHOICES.find(({ value }) => value === compareWith)!.label}
              histogram={data.barsBefore}
              most={mostOf(data.bars, data.barsBefore)}
            />
          </div>
          {totalBefore === 0 && (
            <p className={styles.notice}>The other time has no records, so there is no change to show. Choose another time above.</p>
          )}
          <Cards comparison={data.comparison} scope={data.scope} other={data.other} />
        </>
      )}
    </div>
  )
}

function Total({ title, window, count }: { readonly title: string; readonly window: TimeWindow; readonly count: number }) {
  return (
    <div className={styles.total}>
      <span>{title}</span>
      <strong>{formatCount(count)}</strong>
      <small>{sayWindow(window)}</small>
    </div>
  )
}

const isLoud = (level: string): boolean => level === 'FATAL' || level === 'ERROR' || level === 'WARN'

/** The highest bar of both: one scale for the two charts. */
function mostOf(...histograms: readonly Histogram[]): number {
  return Math.max(
    1,
    ...histograms.flatMap(({ counts, times }) => times.map((_, at) => Object.values(counts).reduce((sum, values) => sum + values[at]!, 0))),
  )
}

function Bars({
  label,
  histogram: { times, counts, barMs },
  most,
}: {
  readonly label: string
  readonly histogram: Histogram
  readonly most: number
}) {
  const series = useMemo((): readonly ChartSeries[] => {
    const sum = (isWanted: (level: string) => boolean) =>
      times.map((_, at) => Object.entries(counts).reduce((all, [level, values]) => all + (isWanted(level) ? values[at]! : 0), 0))
    return [
      { name: 'WARN and worse', color: '--chart-error', values: sum(isLoud) },
      { name: 'others', color: '--chart-info', values: sum(level => !isLoud(level)) },
    ]
  }, [times, counts])
  return (
    <Panel title={label}>
      <TimeChart label={`Records, ${label}`} starts={times} bucketMs={barMs} series={series} height={110} most={most} />
    </Panel>
  )
}

function Cards({
  comparison: { rows, totalBefore },
  scope,
  other,
}: {
  readonly comparison: Comparison
  readonly scope: Scope
  readonly other: TimeWindow
}) {
  const patterns = useMemo(() => rows.patterns.filter(({ change }) => change.kind !== 'same').slice(0, SHOWN_ROWS), [rows])
  const details = usePatternDetails(scope, other, patterns)
  const { showOnly } = useLogsActions()
  const hasBefore = totalBefore > 0
  const cell = (field: string, show: (key: string) => ReactNode) => (key: string) => (
    <button type="button" className={styles.key} onClick={() => showOnly(field, key)}>
      {show(key)}
    </button>
  )
  return (
    <div className={styles.cards}>
      <Card
        title="Levels"
        column="Level"
        rows={rows.levels}
        hasBefore={hasBefore}
        show={cell('level', key => <LevelBadge level={key} />)}
      />
      <Card
        title="Services"
        column="Service"
        rows={rows.services.slice(0, SHOWN_ROWS)}
        hasBefore={hasBefore}
        show={cell('service', key => <ServiceName name={key} />)}
      />
      {hasBefore && (
        <Card
          title="Patterns that changed"
          column="Pattern"
          rows={patterns}
          hasBefore
          className={styles.wide}
          show={key => <PatternCell id={key} details={details?.get(key)} onOpen={() => showOnly('pattern_id', key)} />}
        />
      )}
    </div>
  )
}

/** Texts, levels and services of the patterns; those of patterns that have gone come from the other window. */
function usePatternDetails(
  scope: Scope,
  other: TimeWindow,
  patterns: readonly CompareRow[],
): ReadonlyMap<string, PatternTrend> | undefined {
  const ids = patterns.map(({ key }) => key)
  const { data } = useQuery({
    queryKey: logsKey('compare-patterns', scope, other, ids),
    enabled: ids.length > 0,
    queryFn: async ({ signal }) => {
      const scopes = [{ ...scope, window: other }, scope]
      const answers = await Promise.all(scopes.map(one => searchLogs(patternDetailsBody(one, ids), signal)))
      return new Map(answers.flatMap((answer, at) => [...readPatternDetails(answer, scopes[at]!)]))
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data
}

interface CardProps {
  readonly title: string
  /** Heading of the first column. */
  readonly column: string
  readonly rows: readonly CompareRow[]
  /** The other time has records; without them there is no change to tell. */
  readonly hasBefore: boolean
  readonly className?: string | undefined
  readonly show: (key: string) => ReactNode
}

function Card({ title, column, rows, hasBefore, className, show }: CardProps) {
  const columns: readonly Column<CompareRow>[] = [
    { key: 'key', title: column, grow: true, render: ({ key }) => show(key) },
    { key: 'now', title: 'Now', align: 'right', render: ({ count }) => formatCount(count) },
    { key: 'before', title: 'Then', align: 'right', render: ({ countBefore }) => formatCount(countBefore) },
    {
      key: 'change',
      title: 'Change',
      align: 'right',
      render: ({ change, countBefore }) => (hasBefore ? <ChangePill change={change} before={countBefore} /> : '–'),
    },
  ]
  return (
    <Panel title={title} flush className={className}>
      {rows.length === 0 ? (
        <p className={styles.none}>None.</p>
      ) : (
        <DataTable label={title} columns={columns} rows={rows} rowKey={({ key }) => key} />
      )}
    </Panel>
  )
}
