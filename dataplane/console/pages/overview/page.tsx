/** The overview: amounts, errors, changes, and links to the places to look at. */
import { Button } from '@mantine/core'
import { serverNow } from '../../api/server-clock.ts'
import { ChartLegend, TimeChart } from '../../components/chart/time-chart.tsx'
import { formatTime } from '../../components/format.ts'
import { Page, Panel } from '../../components/layout/panel.tsx'
import { FirstLog } from '../../components/states/first-log.tsx'
import { ErrorPanel, Pending } from '../../components/states/states.tsx'
import { TimeRangePicker } from '../../components/time/time-range-picker.tsx'
import { sayTimeRange, type TimeRange, windowOf } from '../../url-state/time-range.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { Ingestion } from './ingestion.tsx'
import { NewPatterns } from './new-patterns.tsx'
import { OpenIncidents } from './open-incidents.tsx'
import styles from './overview.module.css'
import type { Counts } from './overview-data.ts'
import { Services } from './services.tsx'
import { CountTiles } from './tiles.tsx'
import { useCounts, useNewest, useOpenIncidents } from './use-overview.ts'

export default function OverviewPage() {
  const [range, setRange] = useTimeRange()
  const counts = useCounts(range)
  const newest = useNewest()
  const incidents = useOpenIncidents()
  if (newest.data !== undefined && newest.data.timestamp === undefined)
    return (
      <Page title="Overview">
        <Panel title="Send the first log">
          <FirstLog />
        </Panel>
        {/* Records go earlier than incidents, by their retention or by hand. */}
        {incidents.data !== undefined && incidents.data.total > 0 && <OpenIncidents incidents={incidents} />}
        <Ingestion newest={undefined} newestState="told" />
      </Page>
    )
  return (
    <Page title="Overview" description={describe(range, counts.data)} actions={<TimeRangePicker />}>
      {counts.data === undefined ? (
        counts.isError ? (
          <Panel title="Records">
            <ErrorPanel error={counts.error} onRetry={() => counts.refetch()} />
          </Panel>
        ) : (
          <Pending what="Counting records" />
        )
      ) : (
        <>
          <CountTiles counts={counts.data} incidents={incidents.data} windowMs={windowMs(range)} />
          <Panel title="Records by level" actions={<ChartLegend series={counts.data.chart.series} />}>
            {counts.data.records === 0 && newest.data?.timestamp !== undefined ? (
              <Elsewhere timestamp={newest.data.timestamp} />
            ) : (
              <TimeChart
                label="Records by level"
                {...counts.data.chart}
                height={180}
                onSelect={(fromMs, toMs) => setRange({ kind: 'absolute', fromMs, toMs })}
              />
            )}
          </Panel>
        </>
      )}
      {/* Other services tell of incidents and ingestion: these stay where the store does not answer. */}
      {(counts.data !== undefined || counts.isError) && (
        <div className={styles.columns} data-counted={counts.data !== undefined}>
          {counts.data !== undefined && (
            <div className={styles.stack}>
              <Services services={counts.data.services} hasMore={counts.data.hasMoreServices} />
              <NewPatterns range={range} />
            </div>
          )}
          <div className={styles.stack}>
            <OpenIncidents incidents={incidents} />
            <Ingestion
              newest={newest.data?.timestamp}
              newestState={newest.data !== undefined ? 'told' : newest.isError ? 'unknown' : 'asked'}
            />
          </div>
        </div>
      )}
    </Page>
  )
}

function describe(range: TimeRange, counts: Counts | undefined): string {
  const shown = sayTimeRange(range)
  return counts?.recordsBefore === 0 ? `${shown}; the time before has no records to compare with` : `${shown}, against the time before`
}

function windowMs(range: TimeRange): number {
  const { fromMs, toMs } = windowOf(range, serverNow())
  return toMs - fromMs
}

/** Nothing in this time, but at another. */
function Elsewhere({ timestamp }: { readonly timestamp: string }) {
  const [, setRange] = useTimeRange()
  const at = Date.parse(timestamp)
  return (
    <div className={styles.meta}>
      <span>No records in this time. The newest is of {formatTime(at).slice(0, 19)}.</span>
      <Button variant="default" onClick={() => setRange({ kind: 'absolute', fromMs: at - 1_800_000, toMs: at + 1_800_000 })}>
        Show the time around it
      </Button>
    </div>
  )
}
