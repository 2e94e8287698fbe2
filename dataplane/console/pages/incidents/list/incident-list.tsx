/** The list of incidents: rows of a fixed height, of which only those in sight are drawn, on paper all that were read. */

import { Button, Checkbox } from '@mantine/core'
import { type ReactVirtualizer, useVirtualizer, useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Incident } from '../../../api/ticketing.ts'
import { Pill, ServiceName, SeverityBadge, StatusBadge } from '../../../components/badges/badges.tsx'
import { formatCount, formatShort } from '../../../components/format.ts'
import { scaled } from '../../../components/layout/text-size.ts'
import { usePrinting } from '../../../components/layout/use-printing.ts'
import { Holes } from '../../../components/text/holes.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { TenantName, useTellingTenant } from '../tenant-name.tsx'
import styles from './list.module.css'

/** Room for a title of two lines. */
const ROW_PX = 84
const OVERSCAN = 8
/** Bars at the top and at the bottom of a phone's window cover so much. */
const BAR_PX = 56

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
  /** An incident was opened by the keyboard. */
  readonly onOpenByKey: (() => void) | undefined
}

/** Beside an incident the list scrolls by itself, elsewhere with the page: on a phone a list within the page is hard to get past. */
export function IncidentList({ scrollsWithPage, ...props }: IncidentListProps & { readonly scrollsWithPage: boolean }) {
  return scrollsWithPage ? <ListInPage {...props} /> : <ListInBox {...props} />
}

const rowOptions = (incidents: readonly Incident[]) => ({
  count: incidents.length,
  estimateSize: () => scaled(ROW_PX),
  overscan: OVERSCAN,
  getItemKey: (index: number) => incidents[index]!.id,
})

function ListInBox(props: IncidentListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({ ...rowOptions(props.incidents), getScrollElement: () => scroller.current })
  return (
    <div className={styles.scroller} ref={scroller}>
      <Rows {...props} virtualizer={virtualizer} />
    </div>
  )
}

function ListInPage(props: IncidentListProps) {
  const list = useRef<HTMLDivElement>(null)
  const [scrollMargin, setScrollMargin] = useState<number>()
  // Filters and actions above the list grow and shrink. Rows come once their place is known: else the page goes to the one that seems to lie above it.
  useLayoutEffect(() => setScrollMargin(Math.round((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY)))
  const virtualizer = useWindowVirtualizer({
    ...rowOptions(props.incidents),
    ...{ scrollMargin: scrollMargin ?? 0, scrollPaddingStart: scaled(BAR_PX), scrollPaddingEnd: scaled(BAR_PX) },
  })
  return <div ref={list}>{scrollMargin !== undefined && <Rows {...props} virtualizer={virtualizer} />}</div>
}

interface RowsProps extends IncidentListProps {
  readonly virtualizer: ReactVirtualizer<HTMLDivElement, Element> | ReactVirtualizer<Window, Element>
}

function Rows({ virtualizer, incidents, currentId, hasMore, total, isLoadingMore, onMore, ...row }: RowsProps) {
  const current = incidents.findIndex(({ id }) => id === currentId)
  // Only a step brings the row in sight: incidents that come in above move nobody's list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place of the row changes without a step
  useEffect(() => {
    if (current >= 0) virtualizer.scrollToIndex(current, { align: 'auto' })
  }, [currentId])
  const isPrinting = usePrinting()
  const items = isPrinting
    ? incidents.map(({ id: key }, index) => ({ key, index, start: 0, size: scaled(ROW_PX) }))
    : virtualizer.getVirtualItems()
  return (
    <>
      <ul className={styles.rows} style={{ height: virtualizer.getTotalSize() }} aria-label="Incidents">
        {items.map(({ key, index, start, size }) => (
          <li
            key={key}
            className={styles.row}
            style={{ height: size, transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
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
    </>
  )
}

interface IncidentRowProps extends Pick<IncidentListProps, 'chosen' | 'hrefOf' | 'onChoose' | 'onOpenByKey'> {
  readonly incident: Incident
  readonly isCurrent: boolean
}

function IncidentRow({ incident, isCurrent, chosen, hrefOf, onChoose, onOpenByKey }: IncidentRowProps) {
  const {
    id,
    title,
    severity,
    status,
    service,
    anomalyCount,
    lastSeen,
    recurring,
    rootCause,
    affectedServices,
    furtherServices = 0,
  } = incident
  const failed = Object.values(incident.dispatches ?? {}).filter(dispatch => dispatch.status === 'failed').length
  const tenant = useTellingTenant(incident)
  const others = affectedServices.filter(other => other !== service).length + furtherServices
  return (
    <>
      <Checkbox
        className={styles.choice}
        aria-label={`Choose ${visibleText(title)}${tenant === undefined ? '' : ` of tenant ${tenant}`}`}
        checked={chosen.has(id)}
        onChange={event => onChoose(id, event.currentTarget.checked)}
      />
      <div className={styles.text}>
        <div className={styles.line}>
          <Link
            href={hrefOf(id)}
            // A click of a mouse has a count.
            onClick={event => event.detail === 0 && onOpenByKey?.()}
            className={styles.rowTitle}
            aria-current={isCurrent ? 'true' : undefined}
            title={visibleText(title)}
            dir="auto"
          >
            <Holes text={withoutService(title, service)} />
          </Link>
          <span className={styles.minor}>
            <RelativeTime time={lastSeen} what="Last anomaly" />
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
            <TenantName incident={incident} className={`${styles.minor} ${styles.tenant}`} />
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
