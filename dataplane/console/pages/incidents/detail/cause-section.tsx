/** The likely cause: a summary, candidates with their strength, and reasons that lead to the logs that show them. */
import { Tooltip } from '@mantine/core'
import { IconArrowUpRight } from '@tabler/icons-react'
import type { Candidate } from '../../../../domain/root-cause/root-cause.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { Pill, ServiceName } from '../../../components/badges.tsx'
import { Panel } from '../../../components/panel.tsx'
import { LogsAnchor } from '../logs-anchor.tsx'
import { logsOfReason, logsOfService } from '../rules/logs-link.ts'
import styles from './detail.module.css'

type Caused = Pick<Incident, 'rootCause' | 'firstSeen' | 'lastSeen'>

export function CauseSection({ incident }: { readonly incident: Caused }) {
  const { rootCause } = incident
  if (rootCause === undefined)
    return (
      <Panel title="Likely cause">
        <p className={styles.faint}>
          The cause is looked for within seconds of an incident. Until then the evidence below is what is known.
        </p>
      </Panel>
    )
  return (
    <Panel title="Likely cause" note={NOTES[rootCause.fallback ? 'fallback' : rootCause.mode]}>
      <p className={styles.summary}>{rootCause.summary}</p>
      <ol className={styles.candidates}>
        {rootCause.candidates.map(candidate => (
          <CandidateItem key={candidate.service} candidate={candidate} strongest={rootCause.candidates[0]!.score} incident={incident} />
        ))}
      </ol>
    </Panel>
  )
}

/** Notes on the author of a cause: rules or model. */
const NOTES = {
  rules: 'found by rules',
  llm: 'found by rules, worded by a model',
  fallback: 'found by rules, since the configured model could not be used',
} as const

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
  readonly incident: Caused
}

function CandidateItem({ candidate: { service, score, reasons }, strongest, incident }: CandidateItemProps) {
  const share = strongest > 0 ? Math.max(score / strongest, 0.02) : 0
  return (
    <li className={styles.candidate}>
      <div className={styles.candidateHead}>
        <LogsAnchor logs={logsOfService(service, incident)} className={styles.quietLink} title={`Logs of ${service} around the incident`}>
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
        {reasons.map(reason => (
          <li key={`${reason.kind} ${reason.text}`}>
            <LogsAnchor logs={logsOfReason(service, reason, incident)} className={styles.reason}>
              <span>{reason.text}</span>
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
