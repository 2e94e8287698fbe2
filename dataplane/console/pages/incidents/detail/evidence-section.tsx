/** The evidence of an incident: patterns with their counts, and records that show them. */

import type { Evidence, Incident } from '../../../../domain/incidents/incident-fields.ts'
import { withoutTerminalCodes } from '../../../../domain/records/terminal-codes.ts'
import { LevelBadge } from '../../../components/badges/badges.tsx'
import { formatCount, formatTime } from '../../../components/format.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { isBlank, NoMessage } from '../../../components/text/no-message.tsx'
import { useSamples } from '../data/use-samples.ts'
import { LogsAnchor } from '../logs-anchor.tsx'
import { logsOfEvidence, logsOfRecord, logsOfTrace } from '../rules/logs-link.ts'
import { type Sample, type Samples, samplesOf } from '../rules/samples.ts'
import styles from './detail.module.css'

const MAX_SHOWN = 3

export function EvidenceSection({ incident }: { readonly incident: Incident }) {
  const { evidence, anomalyCount } = incident
  const { data: samples, isError } = useSamples(incident)
  return (
    <Panel title="Evidence" note={`${formatCount(anomalyCount)} ${anomalyCount === 1 ? 'anomaly' : 'anomalies'}`}>
      {evidence.length === 0 && <p className={styles.faint}>No pattern is known of it.</p>}
      <ul className={styles.evidence}>
        {evidence.map(each => (
          <PatternItem key={each.patternId} evidence={each} incident={incident} samples={samples} />
        ))}
      </ul>
      {isError && <p className={styles.faint}>The search store does not answer: sample lines are missing.</p>}
    </Panel>
  )
}

interface PatternItemProps {
  readonly evidence: Evidence
  readonly incident: Incident
  readonly samples: Samples | undefined
}

function PatternItem({ evidence, incident, samples }: PatternItemProps) {
  const { pattern, count } = evidence
  const lines = samples === undefined ? [] : samplesOf(evidence, samples).slice(0, MAX_SHOWN)
  return (
    <li>
      <div className={styles.patternHead}>
        <code className={styles.pattern} dir="auto">
          {isBlank(pattern) ? <NoMessage /> : <VisibleText text={withoutTerminalCodes(pattern)} />}
        </code>
        <LogsAnchor logs={logsOfEvidence(incident.service, evidence, incident)} className={styles.patternCount}>
          {formatCount(count)} ×, show in Logs
        </LogsAnchor>
      </div>
      {lines.length > 0 && (
        <ul className={styles.samples} aria-label="Sample lines">
          {lines.map(line => (
            <SampleLine key={line.log_id} line={line} evidence={evidence} incident={incident} />
          ))}
        </ul>
      )}
    </li>
  )
}

interface SampleLineProps {
  readonly line: Sample
  readonly evidence: Evidence
  readonly incident: Incident
}

function SampleLine({ line, evidence, incident }: SampleLineProps) {
  const { timestamp, level, message, trace_id: traceId, documentId } = line
  return (
    <li>
      <LogsAnchor
        logs={logsOfRecord(incident.service, evidence, documentId, incident)}
        title={`${formatTime(timestamp)}: the lines around it`}
      >
        <time dateTime={timestamp}>{formatTime(timestamp).slice(11, 19)}</time>
      </LogsAnchor>
      <LevelBadge level={level} />
      <span className={styles.message} dir="auto">
        {isBlank(message) ? <NoMessage /> : <VisibleText text={withoutTerminalCodes(message)} />}
      </span>
      {traceId !== undefined && traceId !== '' && (
        <LogsAnchor logs={logsOfTrace(traceId, incident)} title={`All records of trace ${traceId}`}>
          trace
        </LogsAnchor>
      )}
    </li>
  )
}
