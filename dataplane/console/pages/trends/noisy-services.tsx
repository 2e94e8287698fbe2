import { Link } from 'wouter'
import { ServiceName } from '../../components/badges/badges.tsx'
import { compareCounts, formatCount } from '../../components/format.ts'
import { type Column, DataTable } from '../../components/layout/data-table.tsx'
import { Panel } from '../../components/layout/panel.tsx'
import { useLink } from '../../url-state/links.ts'
import styles from './trends.module.css'
import type { ServiceTrend } from './trends-data.ts'

export interface NoisyServicesProps {
  readonly services: readonly ServiceTrend[]
  /** All services with incidents; undefined: not known. */
  readonly count: number | undefined
}

export function NoisyServices({ services, count }: NoisyServicesProps) {
  const link = useLink()
  const hasBefore = services.some(({ incidentsBefore = 0 }) => incidentsBefore > 0)
  // One scale for all of them.
  const most = Math.max(...services.flatMap(({ bars }) => bars))
  const columns: readonly Column<ServiceTrend>[] = [
    {
      key: 'service',
      title: 'Service',
      grow: true,
      render: ({ service }) => (
        <Link href={link('/incidents', { service, status: 'all', recurring: 'show' })} className={styles.service}>
          <ServiceName name={service} />
        </Link>
      ),
    },
    { key: 'bars', title: 'Over time', hideWhenNarrow: true, render: ({ bars }) => <Bars bars={bars} most={most} /> },
    { key: 'incidents', title: 'Incidents', align: 'right', render: ({ incidents }) => formatCount(incidents) },
    {
      key: 'change',
      title: 'Change',
      align: 'right',
      hideWhenNarrow: true,
      render: ({ incidents, incidentsBefore }) =>
        hasBefore && incidentsBefore !== undefined ? compareCounts(incidents, incidentsBefore).text : '–',
    },
    { key: 'urgent', title: 'Critical or high', align: 'right', render: ({ urgent }) => formatCount(urgent) },
    { key: 'anomalies', title: 'Anomalies', align: 'right', hideWhenNarrow: true, render: ({ anomalies }) => formatCount(anomalies) },
  ]
  return (
    <Panel
      title="Noisiest services"
      note={count !== undefined && count > services.length ? `${services.length} of ${formatCount(count)}` : undefined}
      flush
    >
      <DataTable label="Noisiest services" columns={columns} rows={services} rowKey={({ service }) => service} />
    </Panel>
  )
}

function Bars({ bars, most }: { readonly bars: readonly number[]; readonly most: number }) {
  const peak = Math.max(...bars)
  return (
    <span className={styles.bars} role="img" aria-label={`at most ${formatCount(peak)} in one of ${bars.length} equal parts of the time`}>
      {bars.map((count, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
        <i key={i} style={{ height: `${(count / most) * 100}%` }} />
      ))}
    </span>
  )
}
