import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type Incident, SEVERITIES } from '../../api/ticketing.ts'
import { ServiceName, SeverityBadge } from '../../components/badges.tsx'
import { Holes } from '../../components/holes.tsx'
import { Panel } from '../../components/panel.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../components/states.tsx'
import { useLink } from '../../url-state/links.ts'
import styles from './overview.module.css'

const SHOWN = 8

export function OpenIncidents({
  incidents: { data, error, isError, refetch },
}: {
  readonly incidents: UseQueryResult<readonly Incident[]>
}) {
  const link = useLink()
  const worst = data?.toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.createdAt.localeCompare(a.createdAt),
  )
  return (
    <Panel title="Open incidents" flush className={styles.first} actions={<Link href={link('/incidents')}>All incidents</Link>}>
      {worst === undefined ? (
        isError ? (
          <ErrorPanel small error={error} onRetry={() => void refetch()} />
        ) : (
          <Pending what="Reading incidents" />
        )
      ) : worst.length === 0 ? (
        <EmptyState small title="No open incident">
          <p>One is opened when a service has three anomalies within five minutes.</p>
        </EmptyState>
      ) : (
        <ul className={styles.rows}>
          {worst.slice(0, SHOWN).map(({ id, title, severity, service, createdAt, rootCause }) => (
            <li key={id}>
              <Link href={link(`/incidents/${encodeURIComponent(id)}`)}>
                <Holes text={title} />
              </Link>
              <div className={styles.meta}>
                <SeverityBadge severity={severity} />
                <ServiceName name={service} />
                <RelativeTime time={createdAt} />
                {rootCause?.candidates[0] !== undefined && rootCause.candidates[0].service !== service && (
                  <span>cause may be {rootCause.candidates[0].service}</span>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
