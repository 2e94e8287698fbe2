import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Candidate } from '../../../domain/root-cause/root-cause.ts'
import { standsOut } from '../../../domain/root-cause/stands-out.ts'
import { ServiceName, SeverityBadge } from '../../components/badges/badges.tsx'
import { formatCount } from '../../components/format.ts'
import { Panel } from '../../components/layout/panel.tsx'
import { useIsStale } from '../../components/states/stale.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../components/states/states.tsx'
import { ForeignText } from '../../components/text/foreign-text.tsx'
import { Holes } from '../../components/text/holes.tsx'
import { RelativeTime } from '../../components/time/relative-time.tsx'
import { useLink } from '../../url-state/links.ts'
import { TenantName } from '../incidents/tenant-name.tsx'
import styles from './overview.module.css'
import type { OpenIncidentsRead } from './read-open-incidents.ts'

export function OpenIncidents({ incidents: { data, error, isError, refetch } }: { readonly incidents: UseQueryResult<OpenIncidentsRead> }) {
  const link = useLink()
  const isStale = useIsStale()
  const worst = data?.worst
  return (
    <Panel
      title="Open incidents"
      note={data !== undefined && data.total > data.worst.length ? `${data.worst.length} of ${formatCount(data.total)}` : undefined}
      flush
      className={styles.first}
      actions={<Link href={link('/incidents')}>All incidents</Link>}
    >
      {worst === undefined ? (
        isError ? (
          <ErrorPanel small error={error} onRetry={refetch} />
        ) : (
          <Pending what="Reading incidents" />
        )
      ) : worst.length === 0 ? (
        <EmptyState small title={isStale ? 'No open incident at the last answer' : 'No open incident'}>
          <p>One is opened when a service has three anomalies within five minutes.</p>
        </EmptyState>
      ) : (
        <ul className={styles.rows}>
          {worst.map(({ id, tenantId, title, severity, service, lastSeen, rootCause }) => (
            <li key={id}>
              <Link href={link(`/incidents/${encodeURIComponent(id)}`)} dir="auto">
                <Holes text={title} />
              </Link>
              <div className={styles.meta}>
                <SeverityBadge severity={severity} />
                <ServiceName name={service} />
                <TenantName incident={{ tenantId }} />
                <RelativeTime time={lastSeen} what="Last anomaly" />
                <OtherCause service={service} candidate={rootCause?.candidates[0]} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** The likely cause, where that is another service. */
function OtherCause({ service, candidate }: { readonly service: string; readonly candidate: Candidate | undefined }) {
  if (candidate === undefined || candidate.service === service || !standsOut(candidate)) return null
  return (
    <span>
      cause may be <ForeignText text={candidate.service} />
    </span>
  )
}
