/** Tickets of an incident: targets, outcomes, and the next step where one failed. */

import { Button } from '@mantine/core'
import { IconExternalLink, IconRefresh } from '@tabler/icons-react'
import { Link } from 'wouter'
import { findSilence } from '../../../../domain/tickets/silence.ts'
import { shortened } from '../../../../text/shortened.ts'
import type { Incident, IncidentDispatch, IncidentStatus } from '../../../api/ticketing.ts'
import { Pill, type Tone } from '../../../components/badges/badges.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { useNow } from '../../../components/time/use-now.ts'
import { useLink } from '../../../url-state/links.ts'
import { TENANT_PARAMETER } from '../../../url-state/tenant.ts'
import { titleOfTarget } from '../../settings/rules/platform-form.ts'
import { globOf } from '../../settings/rules/silence-form.ts'
import { useRetry } from '../data/use-incident-changes.ts'
import { useDispatches, useSilences } from '../data/use-incidents.ts'
import { ownTenant } from '../rules/own-tenant.ts'
import { type TicketState, ticketStates } from '../rules/ticket-state.ts'
import styles from './detail.module.css'

/** Where links of the page lead. */
export const TICKETS_ID = 'tickets'

const TONES: Readonly<Record<IncidentDispatch['status'], Tone>> = { failed: 'bad', pending: 'info', suppressed: 'neutral', sent: 'good' }

export function TicketsSection({ incident }: { readonly incident: Incident }) {
  const { data: rows = [] } = useDispatches(incident.id)
  const { mutate: retry, isPending, variables } = useRetry(incident.id)
  const tickets = ticketStates(incident, rows)
  return (
    <Panel title="Tickets" id={TICKETS_ID}>
      {tickets.length === 0 ? (
        <NobodyTold incident={incident} />
      ) : (
        <ul className={styles.tickets}>
          {tickets.map(ticket => (
            <TicketItem
              key={ticket.target}
              ticket={ticket}
              isBusy={isPending && variables === ticket.target}
              onRetry={() => retry(ticket.target)}
            />
          ))}
        </ul>
      )}
      <SilenceNote incident={incident} />
    </Panel>
  )
}

function NobodyTold({ incident }: { readonly incident: Incident }) {
  const link = useLink()
  const { severity, status, untold, createdAt } = incident
  const nowMs = useNow()
  const routing = <Link href={link('/settings/routing', settingsOf(incident))}>Set the routing</Link>
  if (untold !== undefined && status === 'resolved')
    return (
      <p className={styles.faint}>
        Nobody was told: <VisibleText text={untold} />.
      </p>
    )
  if (untold === undefined && status !== 'resolved' && nowMs - Date.parse(createdAt) < TAKEN_UP_MS)
    return <p className={styles.faint}>No tickets yet: its cause is looked for first.</p>
  if (untold === undefined)
    return (
      <p className={styles.faint}>
        Nobody is told of {severity} incidents. {routing}
      </p>
    )
  const remedy = REMEDIES[status]
  return (
    <p className={remedy === undefined ? styles.faint : styles.trouble}>
      Nobody was told: <VisibleText text={untold} />. {routing} or{' '}
      <Link href={link('/settings/platforms', settingsOf(incident))}>the platforms</Link>
      {remedy !== undefined && `, then ${remedy}: that tells whom it is routed to by then`}.
    </p>
  )
}

const MAX_REASON = 200

/** So long after it began an incident may wait for its first tickets, as a rule seconds. */
const TAKEN_UP_MS = 60_000

/** The step by which people are told after all; none where somebody has taken care. */
const REMEDIES: Readonly<Partial<Record<IncidentStatus, string>>> = { open: 'escalate it', escalated: 'reopen it' }

interface TicketItemProps {
  readonly ticket: TicketState
  readonly isBusy: boolean
  readonly onRetry: () => void
}

function TicketItem({ ticket, isBusy, onRetry }: TicketItemProps) {
  const { target, status, label, detail, nextAttemptAt, url, externalId, canRetry } = ticket
  const title = titleOfTarget(target)
  return (
    <li>
      <div className={styles.ticketHead}>
        {url === undefined ? (
          <span className={styles.ticketName}>{title}</span>
        ) : (
          <a href={url} target="_blank" rel="noreferrer" className={styles.ticketName}>
            {title}
            <small className={styles.externalId}>{externalId === undefined ? '' : visibleText(externalId)}</small>
            <IconExternalLink size={13} aria-label="(opens in a new tab)" />
          </a>
        )}
        <Pill tone={TONES[status]}>{label}</Pill>
        {canRetry && (
          <Button
            size="compact-xs"
            variant="light"
            loading={isBusy}
            onClick={onRetry}
            leftSection={<IconRefresh size={13} />}
            aria-label={`Retry ${title}`}
          >
            Retry
          </Button>
        )}
      </div>
      {detail !== undefined && (
        <p className={status === 'failed' ? styles.trouble : styles.faint}>
          <VisibleText text={detail} />
          {nextAttemptAt !== undefined && (
            <>
              {' · next attempt '}
              <RelativeTime time={nextAttemptAt} />
            </>
          )}
        </p>
      )}
    </li>
  )
}

/** Settings are those of a tenant: the incident's, though the page may look at all. */
function settingsOf(incident: Incident): Readonly<Record<string, string>> {
  const tenant = ownTenant(incident)
  return tenant === undefined ? {} : { [TENANT_PARAMETER]: tenant }
}

/** Whether a silence holds, and the way to make one. */
function SilenceNote({ incident }: { readonly incident: Incident }) {
  const link = useLink()
  const nowMs = useNow()
  const { data: silences = [] } = useSilences(incident.tenantId)
  const silence = findSilence(silences, incident, nowMs)
  if (silence === undefined)
    return (
      <p className={styles.foot}>
        <Link
          href={link('/settings/silences', {
            services: globOf(incident.service),
            reason: shortened(incident.title, MAX_REASON),
            ...settingsOf(incident),
          })}
        >
          Silence <ForeignText text={incident.service} />…
        </Link>
      </p>
    )
  return (
    <p className={styles.foot}>
      Silenced, ends <RelativeTime time={silence.to} />: <ForeignText text={silence.reason} />.{' '}
      <Link href={link('/settings/silences', settingsOf(incident))}>Silences</Link>
    </p>
  )
}
