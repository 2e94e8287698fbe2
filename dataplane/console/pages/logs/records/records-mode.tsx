/** The histogram, and the records below it. */
import { Button } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { levelSeries } from '../../../components/chart/stack.ts'
import { ChartLegend, TimeChart } from '../../../components/chart/time-chart.tsx'
import { formatCount } from '../../../components/format.ts'
import { FirstLog, useAnyLogs } from '../../../components/states/first-log.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { ForeignText } from '../../../components/text/foreign-text.tsx'
import { useLink } from '../../../url-state/links.ts'
import { relativeRange, sayTimeRange, type TimeRange } from '../../../url-state/time-range.ts'
import { useTimeRange } from '../../../url-state/use-time-range.ts'
import { useLogsActions } from '../filters.ts'
import { isTraceId } from '../requests/trace.ts'
import { MAX_LOADED_RECORDS, type useHistogram, type useRecords } from '../use-logs.ts'
import { LEVELS } from './level.ts'
import type { LogRecord } from './log-record.ts'
import { RecordTable } from './record-table.tsx'
import styles from './records-mode.module.css'

export interface RecordsModeProps {
  readonly found: ReturnType<typeof useRecords>
  readonly histogram: ReturnType<typeof useHistogram>
  readonly search: string
  /** Likely mistakes, for a search that finds nothing. */
  readonly hints: readonly string[]
  readonly columns: readonly string[]
  readonly marks: RegExp | undefined
  readonly wrap: boolean
  readonly withDay: boolean
  readonly openId: string | undefined
  readonly onOpen: (record: LogRecord) => void
  readonly onRange: (range: TimeRange) => void
}

export function RecordsMode(props: RecordsModeProps) {
  const { found, histogram, search, hints, columns, marks, wrap, withDay, openId, onOpen, onRange } = props
  const { data } = histogram
  const series = useMemo(() => (data === undefined ? [] : levelSeries(LEVELS, level => data.counts[level])), [data])
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isPlaceholderData, isPending, error, refetch, records } = found
  const onEnd = useMemo(
    () => (hasNextPage && !isFetchingNextPage && !isPlaceholderData ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage],
  )
  if (error !== null && records.length === 0) return <ErrorPanel error={error} onRetry={refetch} />
  return (
    <section
      className={styles.records}
      aria-label="Records"
      aria-busy={isPlaceholderData || undefined}
      data-outdated={isPlaceholderData || undefined}
    >
      <div className={styles.histogram}>
        {data === undefined ? (
          histogram.error === null ? (
            <Pending what="Counting records" />
          ) : (
            <ErrorPanel error={histogram.error} onRetry={() => histogram.refetch()} small />
          )
        ) : (
          <>
            <TimeChart
              label="Records by level"
              starts={data.times}
              bucketMs={data.barMs}
              series={series}
              height={108}
              onSelect={(fromMs, toMs) =>
                onRange({ kind: 'absolute', fromMs: Math.max(fromMs, data.window.fromMs), toMs: Math.min(toMs, data.window.toMs) })
              }
            />
            <div className={styles.legend}>
              <ChartLegend series={series} />
              <span>a bar is {sayBar(data.barMs)}; click or drag to zoom</span>
            </div>
          </>
        )}
      </div>
      {isPending ? (
        <Pending what="Reading records" />
      ) : records.length === 0 ? (
        <NoRecords search={search} hints={hints} />
      ) : (
        <RecordTable
          label="Records"
          records={records}
          columns={columns}
          marks={marks}
          wrap={wrap}
          withDay={withDay}
          openId={openId}
          onOpen={onOpen}
          {...(onEnd !== undefined && { onEnd })}
          total={data?.total}
          footer={<Footer found={found} />}
        />
      )}
    </section>
  )
}

function Footer({ found: { records, hasNextPage, isFetchNextPageError, fetchNextPage } }: { readonly found: RecordsModeProps['found'] }) {
  if (isFetchNextPageError)
    return (
      <>
        The next records could not be read.{' '}
        <Button size="compact-xs" variant="default" onClick={() => void fetchNextPage()}>
          Try again
        </Button>
      </>
    )
  if (hasNextPage) return 'Reading more…'
  if (records.length >= MAX_LOADED_RECORDS)
    return `${formatCount(MAX_LOADED_RECORDS)} are shown: narrow the search or the time, or export them.`
  return 'No more records in this time.'
}

function NoRecords({ search, hints }: Pick<RecordsModeProps, 'search' | 'hints'>) {
  const [range, setRange] = useTimeRange()
  const link = useLink()
  const anyLogs = useAnyLogs()
  const { showTrace } = useLogsActions()
  if (anyLogs === undefined) return <Pending />
  if (!anyLogs) return <FirstLog />
  return (
    <EmptyState title={search === '' ? 'No records in this time' : 'No record matches'}>
      <p>
        {sayTimeRange(range)}
        {search !== '' && (
          <>
            ,{' '}
            <code>
              <ForeignText text={search} />
            </code>
          </>
        )}
      </p>
      {hints.map(hint => (
        <p key={hint}>
          <ForeignText text={hint} />
        </p>
      ))}
      <div className={styles.ways}>
        {['1d', '7d', '30d'].map(text => (
          <Button key={text} variant="default" onClick={() => setRange(relativeRange(text)!)}>
            {sayTimeRange(relativeRange(text)!)}
          </Button>
        ))}
        {isTraceId(search.trim()) && (
          <Button variant="default" onClick={() => showTrace(search.trim())}>
            Its trace, of any time
          </Button>
        )}
        {search !== '' && (
          <Button variant="default" component={Link} href={link('/logs')}>
            Without the search
          </Button>
        )}
      </div>
    </EmptyState>
  )
}

function sayBar(ms: number): string {
  const units = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's'], [1, 'ms']] as const // biome-ignore format: one line
  const [size, unit] = units.find(([unitMs]) => ms % unitMs === 0)!
  return `${ms / size} ${unit}`
}
