/** The likely cause: a summary, candidates with their strength, and reasons that lead to the logs that show them. */

import { Kbd, Tooltip } from '@mantine/core'
import { IconArrowUpRight } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import type { Candidate } from '../../../../domain/root-cause/root-cause.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { Pill, ServiceName } from '../../../components/badges/badges.tsx'
import { useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { useNow } from '../../../components/time/use-now.ts'
import { LogsAnchor, useLogsHref } from '../logs-anchor.tsx'
import { isByStrength } from '../rules/candidate-order.ts'
import { inBrowserClock } from '../rules/local-times.ts'
import { logsOfReason, logsOfService } from '../rules/logs-link.ts'
import styles from './detail.module.css'
import { type Changed, VersionNote } from './version-note.tsx'

export function CauseSection({ incident }: { readonly incident: Changed & Opened }) {
  const { rootCause } = incident
  useLogsKey(incident)
  if (rootCause === undefined)
    return (
      <Panel title="Likely cause">
        <NoCause createdAt={incident.createdAt} status={incident.status} />
        <VersionNote incident={incident} />
      </Panel>
    )
  return (
    <Panel title="Likely cause" note={NOTES[rootCause.fallback ? 'fallback' : rootCause.mode]}>
      <p className={styles.summary}>
        <VisibleText text={inBrowserClock(rootCause.summary, Date.parse(incident.firstSeen))} />
      </p>
      <VersionNote incident={incident} />
      {!isByStrength(rootCause.candidates) && <p className={styles.faint}>{ORDER_NOTE}</p>}
      <ol className={styles.candidates}>
        {rootCause.candidates.map((candidate, place) => (
          <CandidateItem
            key={candidate.service}
            candidate={candidate}
            strongest={Math.max(...rootCause.candidates.map(({ score }) => score))}
            incident={incident}
            isFirst={place === 0}
          />
        ))}
      </ol>
    </Panel>
  )
}

/** So long after it was opened an incident has a cause, unless many others wait for theirs. */
const PATIENCE_MS = 120_000

type Opened = Pick<Incident, 'createdAt' | 'status'>

function NoCause({ createdAt, status }: Opened) {
  const waitedMs = useNow() - Date.parse(createdAt)
  if (status === 'open' && waitedMs < PATIENCE_MS)
    return (
      <p className={styles.faint}>The cause is looked for within seconds of an incident. Until then the evidence below is what is known.</p>
    )
  return (
    <p className={styles.faint}>
      No cause was looked for{status === 'open' && ' yet: many other incidents wait'}. The evidence below is what is known.
    </p>
  )
}

/** `l` opens the logs that show the first reason of the likeliest cause: the way there by Tab leads past all filters and the list. */
function useLogsKey(incident: Changed): void {
  const [, navigate] = useLocation()
  const hrefOf = useLogsHref()
  const cause = incident.rootCause?.candidates[0]
  const open = (): void => {
    if (cause === undefined) return
    const [reason] = cause.reasons
    navigate(hrefOf(reason === undefined ? logsOfService(cause.service, incident) : logsOfReason(cause.service, reason, incident)))
  }
  useShortcut('l', 'Logs that show the likely cause', open, { group: 'This incident', enabled: cause !== undefined })
}

/** Notes on the author of a cause: rules or model. */
const NOTES = {
  rules: 'found by rules',
  llm: 'found by rules, worded by a model',
  fallback: 'found by rules, since the configured model could not be used',
} as const

const ORDER_NOTE =
  'The order is not by strength alone. Among services of about the same strength, the one whose fault explains the others comes first. Services that share no requests with the incident come last.'

/** Marks a cause that rules found in the place of the model (Spec: GET /api/v1/llm-status). */
export function FallbackBadge() {
  return (
    <Tooltip label="The configured model could not be used: the rules found the cause." multiline maw={280}>
      <button type="button" className={styles.plainButton}>
        <Pill tone="warn">Fallback</Pill>
      </button>
    </Tooltip>
  )
}

interface CandidateItemProps {
  readonly candidate: Candidate
  readonly strongest: number
  /** The likeliest, whose first reason has a key. */
  readonly isFirst: boolean
  readonly incident: Changed
}

function CandidateItem({ candidate: { service, score, reasons }, strongest, isFirst, incident }: CandidateItemProps) {
  const share = strongest > 0 ? Math.max(score / strongest, 0.02) : 0
  return (
    <li className={styles.candidate}>
      <div className={styles.candidateHead}>
        <LogsAnchor
          logs={logsOfService(service, incident)}
          className={styles.quietLink}
          title={`Logs of ${visibleText(service)} around the incident`}
        >
          <ServiceName name={service} />
        </LogsAnchor>
        <Tooltip label="Strength of the evidence; 1 is what a time without a fault shows by chance" multiline maw={260}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the explanation is for the keyboard, too */}
          <span className={styles.strength} tabIndex={0}>
            <span className={styles.bar} aria-hidden>
              <i style={{ width: `${share * 100}%` }} />
            </span>
            <span className="numeric">{formatScore(score)}</span>
          </span>
        </Tooltip>
      </div>
      <ul className={styles.reasons}>
        {reasons.map((reason, place) => (
          <li key={`${reason.kind} ${reason.text}`}>
            <LogsAnchor logs={logsOfReason(service, reason, incident)} className={styles.reason}>
              <span>
                <VisibleText text={inBrowserClock(reason.text, Date.parse(incident.firstSeen))} />
              </span>
              {isFirst && place === 0 && (
                <Kbd size="xs" className={styles.kbd} aria-hidden>
                  l
                </Kbd>
              )}
              <IconArrowUpRight size={14} aria-label="shown in Logs" />
            </LogsAnchor>
          </li>
        ))}
      </ul>
    </li>
  )
}

function formatScore(score: number): string {
  return score >= 100 ? String(Math.round(score)) : score.toFixed(1)
}
