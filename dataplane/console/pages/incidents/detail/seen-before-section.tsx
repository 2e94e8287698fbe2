/** Earlier incidents of the same kind, and what was written of the newest. */
import { Link } from 'wouter'
import type { Incident } from '../../../api/ticketing.ts'
import { StatusBadge } from '../../../components/badges/badges.tsx'
import { formatMoment } from '../../../components/format.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { Pending } from '../../../components/states/states.tsx'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { useLink } from '../../../url-state/links.ts'
import { useSearch } from '../../../url-state/use-search.ts'
import { useSeenBefore } from '../data/use-incidents.ts'
import { NO_FILTERS, readFilters, writeFilters } from '../rules/incident-filters.ts'
import styles from './detail.module.css'

export function SeenBeforeSection({ incident }: { readonly incident: Incident }) {
  const { data, isError } = useSeenBefore(incident)
  const search = useSearch()
  const link = useLink()
  const hrefOf = (id: string) => link(`/incidents/${encodeURIComponent(id)}`, writeFilters(readFilters(new URLSearchParams(search))))
  if (data === undefined)
    return (
      <Panel title="Seen before">
        {isError ? (
          <p className={styles.faint}>Earlier incidents cannot be read at present.</p>
        ) : (
          <Pending what="Reading earlier incidents" />
        )}
      </Panel>
    )
  const { count, latest, note } = data
  if (count === 0)
    return (
      <Panel title="Seen before">
        <p className={styles.faint}>
          No earlier incident of <ForeignText text={incident.service} /> is like it.
        </p>
      </Panel>
    )
  return (
    <Panel title="Seen before" note={count === 1 ? 'once' : `${count} times`}>
      <ul className={styles.before}>
        {latest.map(({ id, createdAt, status }, place) => (
          <li key={id}>
            <div className={styles.entryHead}>
              <Link href={hrefOf(id)} className="numeric">
                {formatMoment(createdAt)}
              </Link>
              <RelativeTime time={createdAt} />
              <StatusBadge status={status} />
            </div>
            {place === 0 && note !== undefined && (
              <p className={styles.note} dir="auto">
                {note.actor !== undefined && <VisibleText text={`${note.actor}: `} />}
                <VisibleText text={note.note} />
              </p>
            )}
          </li>
        ))}
      </ul>
      {count > latest.length && (
        <p className={styles.foot}>
          <Link href={link('/incidents', writeFilters({ ...NO_FILTERS, status: 'all', showsRecurring: true, service: incident.service }))}>
            All incidents of <ForeignText text={incident.service} />
          </Link>
        </p>
      )}
    </Panel>
  )
}
