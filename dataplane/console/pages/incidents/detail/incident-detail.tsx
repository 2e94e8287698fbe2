/** One incident: what is wrong, where, what to do next; then what shows it. */

import type { ReactNode } from 'react'
import { problemOf } from '../../../api/problem.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { Pill, SeverityBadge, StatusBadge } from '../../../components/badges/badges.tsx'
import { CopyButton } from '../../../components/copy/copy-button.tsx'
import { formatCount } from '../../../components/format.ts'
import { useTabTitle } from '../../../components/layout/use-tab-title.ts'
import { ErrorPanel, type ErrorPanelProps, Pending } from '../../../components/states/states.tsx'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { Holes } from '../../../components/text/holes.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { useNow } from '../../../components/time/use-now.ts'
import { addressOf } from '../../../url-state/base-path.ts'
import { useAudit, useIncident } from '../data/use-incidents.ts'
import { ownTenant } from '../rules/own-tenant.ts'
import { sayTold } from '../rules/ticket-state.ts'
import { actorOfState } from '../rules/timeline.ts'
import { describeIncident, nextStep } from '../rules/what-happened.ts'
import { ActionBar } from './action-bar.tsx'
import { AffectedServices } from './affected-services.tsx'
import { CauseSection, FallbackBadge } from './cause-section.tsx'
import styles from './detail.module.css'
import { EvidenceSection } from './evidence-section.tsx'
import { SeenBeforeSection } from './seen-before-section.tsx'
import { TICKETS_ID, TicketsSection } from './tickets-section.tsx'
import { TimelineSection } from './timeline-section.tsx'

export interface IncidentDetailProps {
  readonly id: string
  /** The incident as the list has it. */
  readonly known: Incident | undefined
  /** The way back, where the list is not beside it. */
  readonly back?: ReactNode
  /** Whether it was opened, rather than being the first of the list. */
  readonly namesTab: boolean
}

export function IncidentDetail({ id, known, back, namesTab }: IncidentDetailProps) {
  const { data: incident, error, refetch } = useIncident(id, known)
  useTabTitle(namesTab ? incident?.title : undefined)
  if (incident === undefined)
    return (
      <div className={styles.detail}>
        {back}
        {error === null ? <Pending what="Reading the incident" /> : <NotRead error={error} onRetry={refetch} />}
      </div>
    )
  return (
    <article className={styles.detail} aria-label={`Incident of ${visibleText(incident.service)}`}>
      {back}
      <Head incident={incident} />
      <div className={styles.sections}>
        <div className={styles.mainColumn}>
          <CauseSection incident={incident} />
          <EvidenceSection incident={incident} />
        </div>
        <div className={styles.sideColumn}>
          <SeenBeforeSection incident={incident} />
          <TicketsSection incident={incident} />
          <TimelineSection incident={incident} />
        </div>
      </div>
    </article>
  )
}

const NOT_FOUND = 404

/** Most who get here followed a link: of a ticket, or of a message. */
function NotRead(props: Pick<ErrorPanelProps, 'error' | 'onRetry'>) {
  if (problemOf(props.error).status !== NOT_FOUND) return <ErrorPanel {...props} />
  return <ErrorPanel error={props.error} advice="See whether the link is whole. Incidents that were resolved long ago are deleted." />
}

function Head({ incident }: { readonly incident: Incident }) {
  const nowMs = useNow()
  const { title, severity, status, recurring, rootCause, id } = incident
  const { data: audit = [] } = useAudit(id)
  const next = nextStep(incident, nowMs, actorOfState(status, audit))
  return (
    <header className={styles.head} data-severity={severity}>
      <div className={styles.badges}>
        <SeverityBadge severity={severity} />
        <StatusBadge status={status} />
        {recurring === true && <Pill tone="neutral">recurring</Pill>}
        {rootCause?.fallback === true && <FallbackBadge />}
        <span className={styles.id}>
          <code>{id.slice(0, 8)}</code>
          <CopyButton text={addressOf(`/incidents/${encodeURIComponent(id)}`)} label="Copy the link to this incident" />
        </span>
      </div>
      <h2 className={styles.title} dir="auto">
        <Holes text={title} />
      </h2>
      <p className={styles.sentence}>
        <VisibleText text={describeIncident(incident)} />
      </p>
      <p className={styles.next} data-urgent={next.isUrgent}>
        <strong>Next</strong> <VisibleText text={next.text} />
      </p>
      <ActionBar key={id} incident={incident} />
      <Facts incident={incident} />
    </header>
  )
}

function Facts({ incident }: { readonly incident: Incident }) {
  const tenant = ownTenant(incident)
  const told = sayTold(incident)
  const { firstSeen, lastSeen, anomalyCount, anomalyScore } = incident
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Began</dt>
        <dd>
          <RelativeTime time={firstSeen} />
        </dd>
      </div>
      <div>
        <dt>Last anomaly</dt>
        <dd>
          <RelativeTime time={lastSeen} />
        </dd>
      </div>
      <div>
        <dt>Anomalies</dt>
        <dd className="numeric">{formatCount(anomalyCount)}</dd>
      </div>
      <div>
        <dt>Highest score</dt>
        <dd className="numeric">{anomalyScore.toFixed(2)} of 1</dd>
      </div>
      {tenant !== undefined && (
        <div>
          <dt>Tenant</dt>
          <dd>{tenant}</dd>
        </div>
      )}
      {told !== undefined && (
        <div>
          <dt>Told</dt>
          <dd>
            <a href={`#${TICKETS_ID}`} className={styles.quietLink}>
              {told}
            </a>
          </dd>
        </div>
      )}
      <AffectedServices incident={incident} />
    </dl>
  )
}
