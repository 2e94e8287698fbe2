/** Trends of incidents: the questions to the search store, what their answers say, and means of time in words. */
import { type Bucket, bucketsOf, type SearchAnswer, type SearchBody } from '../../api/search.ts'
import { SEVERITIES, type Severity } from '../../api/ticketing.ts'
import { bucketStarts, type ChartSeries } from '../../components/chart/stack.ts'
import { bucketMsFor, relativeRange, type TimeRange, type TimeWindow } from '../../url-state/time-range.ts'

/** Where the URL says none: incidents are few, and an hour of them is no trend. */
export const USUAL_RANGE: TimeRange = relativeRange('7d')!
/** Services of the most incidents. */
const SERVICES_SHOWN = 20
/** Services whose number of incidents is compared with the time before. */
const SERVICES_COMPARED = 1_000
/** Bars of a service, at least. */
const BARS = 24

const SEVERITY_COLORS: Readonly<Record<Severity, string>> = {
  critical: '--chart-fatal',
  high: '--chart-error',
  medium: '--chart-warn',
  low: '--chart-info',
}

/** Those created in the window, whose end is not within it. */
function within({ fromMs, toMs }: TimeWindow): object {
  return { range: { createdAt: { gte: new Date(fromMs).toISOString(), lt: new Date(toMs).toISOString() } } }
}

/** The window of a service's bars: whole bars of the chart, put together. */
function barMsFor(window: TimeWindow): number {
  const bucketMs = bucketMsFor(window)
  return bucketMs * Math.max(1, Math.floor((window.toMs - window.fromMs) / BARS / bucketMs))
}

export function trendsBody(window: TimeWindow): SearchBody {
  return {
    size: 0,
    track_total_hits: false,
    query: within(window),
    aggs: {
      time: {
        date_histogram: { field: 'createdAt', fixed_interval: `${bucketMsFor(window)}ms`, min_doc_count: 1 },
        aggs: { severities: { terms: { field: 'severity', size: SEVERITIES.length } } },
      },
      services: {
        terms: { field: 'service', size: SERVICES_SHOWN },
        aggs: {
          severities: { terms: { field: 'severity', size: SEVERITIES.length } },
          anomalies: { sum: { field: 'anomalyCount' } },
          time: { date_histogram: { field: 'createdAt', fixed_interval: `${barMsFor(window)}ms`, min_doc_count: 1 } },
        },
      },
    },
  }
}

export function trendsBeforeBody(window: TimeWindow): SearchBody {
  return {
    size: 0,
    track_total_hits: false,
    query: within(window),
    aggs: { services: { terms: { field: 'service', size: SERVICES_COMPARED } } },
  }
}

export interface ServiceTrend {
  readonly service: string
  readonly incidents: number
  /** Undefined where it was not counted. */
  readonly incidentsBefore: number | undefined
  readonly urgent: number
  readonly anomalies: number
  /** Incidents of each bar, the oldest first. */
  readonly bars: readonly number[]
}

export interface Trends {
  readonly starts: readonly number[]
  readonly bucketMs: number
  readonly series: readonly ChartSeries[]
  readonly services: readonly ServiceTrend[]
}

export function readTrends(now: SearchAnswer<unknown>, before: SearchAnswer<unknown>, window: TimeWindow): Trends {
  const bucketMs = bucketMsFor(window)
  const starts = bucketStarts(window, bucketMs)
  const found = new Map(bucketsOf(now.aggregations, 'time').map(bucket => [Number(bucket.key), bucket]))
  const series = SEVERITIES.map(severity => ({
    name: severity,
    color: SEVERITY_COLORS[severity],
    values: starts.map(start => countOf(found.get(start), severity)),
  })).filter(({ values }) => values.some(value => value > 0))
  const earlier = bucketsOf(before.aggregations, 'services')
  const countBefore = new Map(earlier.map(({ key, doc_count }) => [String(key), doc_count]))
  const isCut = earlier.length >= SERVICES_COMPARED
  const barMs = barMsFor(window)
  const barStarts = bucketStarts(window, barMs)
  const services = bucketsOf(now.aggregations, 'services').map(bucket => {
    const service = String(bucket.key)
    const bars = new Map(bucketsOf(bucket, 'time').map(({ key, doc_count }) => [Number(key), doc_count]))
    return {
      ...{ service, incidents: bucket.doc_count, incidentsBefore: countBefore.get(service) ?? (isCut ? undefined : 0) },
      urgent: countOf(bucket, 'critical') + countOf(bucket, 'high'),
      anomalies: (bucket['anomalies'] as { readonly value?: number | null } | undefined)?.value ?? 0,
      bars: barStarts.map(start => bars.get(start) ?? 0),
    }
  })
  return { starts, bucketMs, series, services: services.toSorted((a, b) => b.incidents - a.incidents || b.anomalies - a.anomalies) }
}

function countOf(bucket: Bucket | undefined, severity: Severity): number {
  return bucketsOf(bucket, 'severities').find(({ key }) => key === severity)?.doc_count ?? 0
}

/** `40 s`, `12 min`, `3.5 h`, `2.1 d`; a dash where there is no mean. */
export function sayMean(seconds: number | null): string {
  if (seconds === null) return '–'
  if (seconds < 99.5) return `${Math.round(seconds)} s`
  if (seconds < 99.5 * 60) return `${Math.round(seconds / 60)} min`
  const [count, unit] = seconds < 48 * 3_600 ? [seconds / 3_600, 'h'] : [seconds / 86_400, 'd']
  return `${count.toFixed(1).replace(/\.0$/, '')} ${unit}`
}
