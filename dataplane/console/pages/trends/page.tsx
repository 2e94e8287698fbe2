/** Trends: how many incidents there are, how fast people take care of them, and which services make the noise. */
import { useMemo } from 'react'
import { ChartLegend, TimeChart } from '../../components/chart/time-chart.tsx'
import { compareCounts, formatCount } from '../../components/format.ts'
import { Page, Panel } from '../../components/layout/panel.tsx'
import { Tile, Tiles } from '../../components/layout/tile.tsx'
import { FirstLog, useAnyLogs } from '../../components/states/first-log.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../components/states/states.tsx'
import { TimeRangePicker } from '../../components/time/time-range-picker.tsx'
import { sayWithin } from '../../url-state/time-range.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { NoisyServices } from './noisy-services.tsx'
import { sayMean, USUAL_RANGE } from './trends-data.ts'
import { useStatistics, useTrends } from './use-trends.ts'

const CHART = 'Incidents by severity'

export default function TrendsPage() {
  const [range, setRange] = useTimeRange(USUAL_RANGE)
  const trends = useTrends(range)
  const statistics = useStatistics(range)
  const services = statistics.data && Object.keys(statistics.data.now.byService).length
  const chart = useMemo(() => trends.data && { ...trends.data }, [trends.data])
  return (
    <Page
      title="Trends"
      description={`Incidents that began ${sayWithin(range)}, against the time before`}
      actions={<TimeRangePicker usual={USUAL_RANGE} />}
    >
      <Means statistics={statistics} />
      <Panel title={CHART} actions={chart && <ChartLegend series={chart.series} />}>
        {chart === undefined ? (
          trends.isError ? (
            <ErrorPanel small error={trends.error} onRetry={() => trends.refetch()} />
          ) : (
            <Pending what="Counting incidents" />
          )
        ) : chart.series.length === 0 ? (
          <NoIncidents />
        ) : (
          <TimeChart
            label={CHART}
            {...{ starts: chart.starts, bucketMs: chart.bucketMs, series: chart.series }}
            height={200}
            onSelect={(fromMs, toMs) => setRange({ kind: 'absolute', fromMs, toMs })}
          />
        )}
      </Panel>
      {chart !== undefined && chart.services.length > 0 && <NoisyServices services={chart.services} count={services} />}
    </Page>
  )
}

function NoIncidents() {
  if (useAnyLogs() === false) return <FirstLog />
  return (
    <EmptyState small title="No incident began in this time">
      <p>Choose a longer time to see earlier ones.</p>
    </EmptyState>
  )
}

function Means({ statistics: { data, isError, error, refetch } }: { readonly statistics: ReturnType<typeof useStatistics> }) {
  if (data === undefined)
    return isError ? (
      <Panel title="Times">
        <ErrorPanel small error={error} onRetry={() => refetch()} />
      </Panel>
    ) : (
      <Pending what="Reading times" />
    )
  const { now, before } = data
  const urgent = now.bySeverity.critical + now.bySeverity.high
  return (
    <Tiles>
      <Tile title="Incidents" value={formatCount(now.incidents)}>
        {before.incidents > 0
          ? `${compareCounts(now.incidents, before.incidents).text}, before ${formatCount(before.incidents)}`
          : 'none before'}
      </Tile>
      <Tile title="Critical or high" value={formatCount(urgent)} tone={now.bySeverity.critical > 0 ? 'bad' : undefined}>
        {formatCount(now.bySeverity.critical)} critical
      </Tile>
      <Tile title="Mean time to acknowledge" value={sayMean(now.mttaSeconds)}>
        {now.mttaSeconds === null ? 'none was acknowledged' : sayBefore(before.mttaSeconds)}
      </Tile>
      <Tile title="Mean time to resolve" value={sayMean(now.mttrSeconds)}>
        {now.mttrSeconds === null ? 'none is resolved' : sayBefore(before.mttrSeconds)}
      </Tile>
    </Tiles>
  )
}

function sayBefore(seconds: number | null): string {
  return seconds === null ? 'nothing before' : `before ${sayMean(seconds)}`
}
