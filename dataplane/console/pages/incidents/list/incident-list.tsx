/** The list of incidents: rows of a fixed height, of which only those in sight are drawn. */

import { Button, Checkbox } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { Link, useSearch } from 'wouter'
import type { Incident } from '../../../api/ticketing.ts'
import { Pill, ServiceName, SeverityBadge, StatusBadge } from '../../../components/badges.tsx'
import { formatCount, formatShort } from '../../../components/format.ts'
import { Holes } from '../../../components/holes.tsx'
import { RelativeTime } from '../../../components/relative-time.tsx'
import { visibleText } from '../../../components/visible-text.ts'
import { parseTenant } from '../../../url-state/tenant.ts'
import { ownTenant } from '../rules/logs-link.ts'
import styles from './list.module.css'

/** Room for a title of two lines. */
const ROW_PX = 84
const OVERSCAN = 8

export interface IncidentListProps {
  readonly incidents: readonly Incident[]
  readonly chosen: ReadonlySet<string>
  /** Where the keyboard is. */
  readonly currentId: string | undefined
  readonly hasMore: boolean
  /** How many the filters leave; undefined: not known. */
  readonly total: number | undefined
  readonly isLoadingMore: boolean
  readonly hrefOf: (id: string) => string
  readonly onChoose: (id: string, isChosen: boolean) => void
  readonly onMore: () => void
}

export function IncidentList({ incidents, currentId, hasMore, total, isLoadingMore, onMore, ...row }: IncidentListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: incidents.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: index => incidents[index]!.id,
  })
  const current = incidents.findIndex(({ id }) => id === currentId)
  useEffect(() => {
    if (current >= 0) virtualizer.scrollToIndex(current, { align: 'auto' })
  }, [current, virtualizer])
  return (
    <div className={styles.scroller} ref={scroller}>
      <ul className={styles.rows} style={{ height: virtualizer.getTotalSize() }} aria-label="Incidents">
        {virtualizer.getVirtualItems().map(({ key, index, start, size }) => (
          <li
            key={key}
            className={styles.row}
            style={{ height: size, transform: `translateY(${start}px)` }}
            data-current={index === current}
            data-severity={incidents[index]!.severity}
            data-resolved={incidents[index]!.status === 'resolved'}
            aria-setsize={Math.max(total ?? 0, incidents.length)}
            aria-posinset={index + 1}
          >
            <IncidentRow incident={incidents[index]!} isCurrent={index === current} {...row} />
          </li>
        ))}
      </ul>
      {hasMore && (
        <div className={styles.more}>
          {total !== undefined && total > incidents.length && (
            <span className={`${styles.minor} numeric`}>
              {formatCount(incidents.length)} of {formatCount(total)}
            </span>
          )}
          <Button variant="default" loading={isLoadingMore} onClick={onMore}>
            More
          </Button>
        </div>
      )}
    </div>
  )
}

interface IncidentRowProps extends Pick<IncidentListProps, 'chosen' | 'hrefOf' | 'onChoose'> {
  readonly incident: Incident
  readonly isCurrent: boolean
}

function IncidentRow({ incident, isCurrent, chosen, hrefOf, onChoose }: IncidentRowProps) {
  const { id, title, severity, status, service, anomalyCount, lastSeen, recurring, rootCause, affectedServices } = incident
  const failed = Object.values(incident.dispatches ?? {}).filter(dispatch => dispatch.status === 'failed').length
  const looksAt = parseTenant(useSearch())
  const tenant = looksAt === undefined ? ownTenant(incident) : undefined
  const others = affectedServices.filter(other => other !== service).length
  return (
    <>
      <Checkbox
        className={styles.choice}
        aria-label={`Choose ${visibleText(title)}`}
        checked={chosen.has(id)}
        onChange={event => onChoose(id, event.currentTarget.checked)}
      />
      <div className={styles.text}>
        <div className={styles.line}>
          <Link
            href={hrefOf(id)}
            className={styles.rowTitle}
            aria-current={isCurrent ? 'true' : undefined}
            title={visibleText(title)}
            dir="auto"
          >
            <Holes text={withoutService(title, service)} />
          </Link>
          <span className={styles.minor}>
            <RelativeTime time={lastSeen} />
          </span>
        </div>
        <div className={styles.line}>
          <div className={styles.rowFacts}>
            <SeverityBadge severity={severity} />
            {status !== 'open' && <StatusBadge status={status} />}
            {failed > 0 && <Pill tone="bad">{failed} not told</Pill>}
            {rootCause?.fallback === true && <Pill tone="warn">Fallback</Pill>}
            {recurring === true && <Pill tone="neutral">recurring</Pill>}
            <ServiceName name={service} />
            {others > 0 && <span className={styles.minor}>+{others}</span>}
            {tenant !== undefined && (
              <span className={`${styles.minor} ${styles.tenant}`} title={`Of tenant ${tenant}`}>
                {tenant}
              </span>
            )}
          </div>
          <span className={`${styles.minor} numeric`} title={`${anomalyCount} anomalies`}>
            {formatShort(anomalyCount)} ×
          </span>
        </div>
      </div>
    </>
  )
}

/** The service stands beside it. */
function withoutService(title: string, service: string): string {
  return title.startsWith(`${service}: `) ? title.slice(service.length + 2) : title
}
