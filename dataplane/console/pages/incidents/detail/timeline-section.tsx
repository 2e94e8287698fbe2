import type { Incident, IncidentDispatch } from '../../../api/ticketing.ts'
import { Pill, type Tone } from '../../../components/badges/badges.tsx'
import { formatMoment, formatTime } from '../../../components/format.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { Pending } from '../../../components/states/states.tsx'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { titleOfTarget } from '../../settings/rules/platform-form.ts'
import { useAudit, useDispatches } from '../data/use-incidents.ts'
import { buildTimeline, type TimelineDispatch, type TimelineEntry } from '../rules/timeline.ts'
import styles from './detail.module.css'

const TONES: Readonly<Record<IncidentDispatch['status'], Tone>> = { failed: 'bad', pending: 'info', suppressed: 'neutral', sent: 'good' }
const WORDS: Readonly<Record<IncidentDispatch['status'], string>> = {
  failed: 'not told',
  pending: 'waiting',
  suppressed: 'held back',
  sent: 'told',
}

/** Events of the incident, the newest first. */
export function TimelineSection({ incident }: { readonly incident: Incident }) {
  const { data: audit, isError } = useAudit(incident.id)
  const { data: rows = [] } = useDispatches(incident.id)
  if (audit === undefined && !isError)
    return (
      <Panel title="Timeline">
        <Pending what="Reading the audit trail" />
      </Panel>
    )
  const entries = buildTimeline(incident, audit ?? [], rows)
  return (
    <Panel title="Timeline" {...(isError && { note: 'the audit trail cannot be read at present' })}>
      <ol className={styles.timeline}>
        {entries.map(entry => (
          <EntryItem key={`${entry.at} ${entry.kind}`} entry={entry} />
        ))}
      </ol>
    </Panel>
  )
}

function EntryItem({ entry: { at, kind, title, actor, note, told } }: { readonly entry: TimelineEntry }) {
  return (
    <li data-kind={kind}>
      <div className={styles.entryHead}>
        <strong>
          <VisibleText text={title} />
        </strong>
        {actor !== undefined && (
          <span>
            by <ForeignText text={actor} />
          </span>
        )}
        <time dateTime={at} title={formatTime(at)} className="numeric">
          {formatMoment(at)}
        </time>
      </div>
      {note !== undefined && (
        <p className={styles.note} dir="auto">
          <VisibleText text={note} />
        </p>
      )}
      {told.length > 0 && (
        <div className={styles.told}>
          {told.map(dispatch => (
            <Told key={dispatch.platform} dispatch={dispatch} />
          ))}
        </div>
      )}
    </li>
  )
}

function Told({ dispatch: { platform, status } }: { readonly dispatch: TimelineDispatch }) {
  return (
    <Pill tone={TONES[status]}>
      {titleOfTarget(platform)} {WORDS[status]}
    </Pill>
  )
}
