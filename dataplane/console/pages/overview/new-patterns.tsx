import { Link } from 'wouter'
import { LevelBadge, ServiceName } from '../../components/badges/badges.tsx'
import { formatCount } from '../../components/format.ts'
import { Panel } from '../../components/layout/panel.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../components/states/states.tsx'
import { Holes } from '../../components/text/holes.tsx'
import { RelativeTime } from '../../components/time/relative-time.tsx'
import { useLink } from '../../url-state/links.ts'
import type { TimeRange } from '../../url-state/time-range.ts'
import styles from './overview.module.css'
import { useNewPatterns } from './use-overview.ts'

export function NewPatterns({ range }: { readonly range: TimeRange }) {
  const { data, error, isError, refetch } = useNewPatterns(range)
  const link = useLink()
  return (
    <Panel title="New patterns" note="warnings and errors not seen in the 24 hours before" flush>
      {data === undefined ? (
        isError ? (
          <ErrorPanel small error={error} onRetry={refetch} />
        ) : (
          <Pending what="Comparing patterns" />
        )
      ) : data.length === 0 ? (
        <EmptyState small title="Nothing that was not said before" />
      ) : (
        <ul className={styles.rows}>
          {data.map(({ id, pattern, service, level, count, firstSeen }) => (
            <li key={id}>
              <Link href={link('/logs', { q: `pattern_id:${id}` })} className={styles.pattern} dir="auto">
                <Holes text={pattern} />
              </Link>
              <div className={styles.meta}>
                <LevelBadge level={level} />
                <ServiceName name={service} />
                <span className="numeric">{count === 1 ? 'once' : `${formatCount(count)} times`}</span>
                <span>
                  first <RelativeTime time={firstSeen} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
