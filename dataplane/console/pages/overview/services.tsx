import { NativeSelect } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { ServiceName } from '../../components/badges/badges.tsx'
import { type Change, compareCounts, formatCount, formatShare } from '../../components/format.ts'
import { type Column, DataTable } from '../../components/layout/data-table.tsx'
import { Panel } from '../../components/layout/panel.tsx'
import { EmptyState } from '../../components/states/states.tsx'
import { choice } from '../../url-state/fields.ts'
import { useLink } from '../../url-state/links.ts'
import { useUrlState } from '../../url-state/use-url-state.ts'
import { formatTerm } from '../logs/search/spelling.ts'
import styles from './overview.module.css'
import type { ServiceCounts } from './overview-data.ts'
import { orderServices, SERVICE_ORDERS, type ServiceOrder } from './service-order.ts'

/** Rows of the table. */
const SHOWN = 100
const STATE = { services: choice(SERVICE_ORDERS, 'worst') }
const ORDERS: Readonly<Record<ServiceOrder, string>> = {
  worst: 'Failing most',
  errors: 'Most errors',
  records: 'Most records',
  change: 'Most changed',
}
const HINTS: Readonly<Record<ServiceOrder, string>> = {
  worst: 'many errors and a large share of them first',
  errors: 'by number of errors',
  records: 'which one makes the noise',
  change: 'in records, against the time before',
}

export interface ServicesProps {
  readonly services: readonly ServiceCounts[]
  /** More services logged than these. */
  readonly hasMore: boolean
}

export function Services({ services, hasMore }: ServicesProps) {
  const link = useLink()
  const [{ services: order }, setState] = useUrlState(STATE)
  const rows = useMemo(() => orderServices(services, order).slice(0, SHOWN), [services, order])
  const hasBefore = services.some(({ recordsBefore = 0 }) => recordsBefore > 0)
  const columns: readonly Column<ServiceCounts>[] = [
    {
      key: 'service',
      title: 'Service',
      grow: true,
      render: ({ service }) => (
        <Link href={link('/logs', { q: formatTerm('service', service) })} className={styles.serviceLink}>
          <ServiceName name={service} />
        </Link>
      ),
    },
    { key: 'records', title: 'Records', align: 'right', render: ({ records }) => formatCount(records) },
    {
      key: 'change',
      title: 'Change',
      align: 'right',
      hideWhenNarrow: true,
      render: ({ records, recordsBefore }) =>
        records === 0 && recordsBefore !== 0 ? (
          <span className={styles.up}>silent</span>
        ) : (
          <Plain change={compare(hasBefore, records, recordsBefore)} />
        ),
    },
    {
      key: 'share',
      title: 'Error share',
      align: 'right',
      render: ({ errorShare }) => (
        <span className={styles.share}>
          <span className={styles.bar} aria-hidden>
            <i style={{ width: `${Math.min(errorShare, 1) * 100}%` }} />
          </span>
          <b>{formatShare(errorShare)}</b>
        </span>
      ),
    },
    {
      key: 'errors',
      title: 'Errors, change',
      align: 'right',
      hideWhenNarrow: true,
      render: ({ errors, errorsBefore }) => (
        <>
          {formatCount(errors)} <ErrorChange change={compare(hasBefore, errors, errorsBefore)} />
        </>
      ),
    },
  ]
  return (
    <Panel
      title="Services"
      note={`${sayShown(services.length, hasMore)}${HINTS[order]}`}
      flush
      actions={
        // The browser's own: the other kind takes 9 KB of the first view.
        <NativeSelect
          size="xs"
          aria-label="Order of the services"
          data={SERVICE_ORDERS.map(value => ({ value, label: ORDERS[value] }))}
          value={order}
          onChange={event => setState({ services: event.currentTarget.value as ServiceOrder }, { replace: true })}
        />
      }
    >
      {services.length === 0 ? (
        <EmptyState small title="No service logged in this time" />
      ) : (
        <DataTable label="Services" columns={columns} rows={rows} rowKey={({ service }) => service} />
      )}
    </Panel>
  )
}

/** `100 of 340, ` where rows are left out. */
function sayShown(count: number, hasMore: boolean): string {
  if (count <= SHOWN && !hasMore) return ''
  return `${Math.min(count, SHOWN)} of ${hasMore ? 'more than ' : ''}${formatCount(count)}, `
}

function compare(hasBefore: boolean, now: number, before: number | undefined): Change {
  return hasBefore && before !== undefined ? compareCounts(now, before) : NOTHING_BEFORE
}

/** Where no service logged in the time before, each would be new. */
const NOTHING_BEFORE: Change = { text: '–', direction: 'none' }

function Plain({ change }: { readonly change: Change }) {
  return <span className={styles.plain}>{change.text}</span>
}

function ErrorChange({ change }: { readonly change: Change }) {
  const tone =
    change.direction === 'up' || change.direction === 'new' ? styles.up : change.direction === 'down' ? styles.down : styles.plain
  return change.direction === 'none' ? null : <span className={tone}>{change.text}</span>
}
