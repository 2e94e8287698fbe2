/** Makes an incident from anomalies, and adds further ones to it (Spec: Incident; Decisions 6). */

import { shortened } from '../../text/shortened.ts'
import type { SignalName } from '../anomalies/signals/signal.ts'
import { withoutTerminalCodes } from '../records/terminal-codes.ts'
import { compareTimestamps } from '../records/timestamp.ts'
import { wordsOfLine } from '../records/words-of-line.ts'
import { saysError } from '../root-cause/observed/level-in-text.ts'
import { askAttention } from '../tickets/ask-attention.ts'
import { MAX_AFFECTED } from './affected-services.ts'
import type { GroupedAnomaly } from './anomaly-window.ts'
import { inReadingOrder } from './evidence-order.ts'
import { GROUP_SIZE, type GroupingChange } from './grouping.ts'
import type { Evidence, Incident } from './incident-fields.ts'
import { moreSevere } from './severity.ts'

/** Bounds of what an incident shows of its anomalies. */
const MAX_PATTERNS = 20
const MAX_SAMPLES = 5
const MAX_TITLE_LENGTH = 160
const ERROR_SHARE: SignalName = 'error share'

/** The incident that an `open` decision makes (Spec: Incident; Decisions 6). `now` is ISO-8601. */
export function buildIncident(opened: GroupingChange, now: string): Incident {
  const { members, severity, tenant, service } = opened
  const evidence = addEvidence([], members)
  const traceId = firstTrace(members)
  return {
    id: opened.incidentId,
    tenantId: tenant,
    title: buildTitle(service, members),
    severity,
    status: 'open',
    service,
    anomalyScore: highestScore(0, members),
    anomalyCount: members.length,
    ...affectedBy(opened),
    ...(traceId !== undefined && { traceId }),
    createdAt: now,
    updatedAt: now,
    ...seenSpan(undefined, members),
    platforms: [],
    evidence,
  }
}

/** The incident after a `fold` or `raise`: `updatedAt` refreshed, the anomaly count incremented by its new members (Spec: Incident status). */
export function foldIntoIncident<T extends Incident>(incident: T, folded: GroupingChange, now: string): T {
  const { members } = folded
  const traceId = incident.traceId ?? firstTrace(members)
  const grown = {
    ...incident,
    severity: moreSevere(incident.severity, folded.severity),
    anomalyScore: highestScore(incident.anomalyScore, members),
    anomalyCount: incident.anomalyCount + members.length,
    ...affectedBy(folded, incident),
    ...(traceId !== undefined && { traceId }),
    updatedAt: now > incident.updatedAt ? now : incident.updatedAt,
    ...seenSpan(incident, members),
    evidence: addEvidence(incident.evidence, members),
  }
  return askAttention(incident, grown, now)
}

/** The text of the audit entry `created`: more may follow, so that the incident's own count is another. */
export function describeCreation({ members, service }: GroupingChange): string {
  const [first] = members
  if (members.length === 1 && first !== undefined) return `an anomaly of ${service} with score ${first.score}`
  return `the first ${members.length} anomalies of ${service}, within 5 minutes`
}

/** Members whose words are the title: as many as make an incident without a signal, what is fatal, or the errors behind a growing share of them. */
function tellingMembers(members: readonly GroupedAnomaly[]): readonly GroupedAnomaly[] | undefined {
  const unsignalled = members.filter(({ signal }) => signal === undefined)
  if (unsignalled.length >= GROUP_SIZE) return unsignalled
  const fatal = members.filter(({ level }) => level === 'FATAL')
  if (fatal.length > 0) return fatal
  if (!members.some(({ signal }) => signal?.startsWith(ERROR_SHARE))) return undefined
  const errors = members.filter(({ level, pattern }) => level === 'ERROR' || saysError(pattern))
  return errors.length > 0 ? errors : undefined
}

/**
 * A title. Records that alone would make the incident say what happened; else the finding of a signal says more than the record at which it was found.
 * The words of a JSON message say more than its pattern.
 */
function buildTitle(service: string, members: readonly GroupedAnomaly[]): string {
  const telling = tellingMembers(members)
  const found = telling === undefined ? members.find(({ signal }) => signal !== undefined)?.signal : undefined
  const line = found === undefined ? wordsOfMost(telling ?? members) : withoutTerminalCodes(found)
  const what = line.replaceAll(/\s+/g, ' ').trim() || 'anomalous log records without a message'
  return shortened(`${service}: ${what}`, MAX_TITLE_LENGTH)
}

function wordsOfMost(members: readonly GroupedAnomaly[]): string {
  const [most] = addEvidence([], members)
  const words = members.find(({ pattern_id }) => pattern_id === most?.patternId)?.words ?? most?.pattern ?? ''
  return wordsOfLine(words)
}

/** Per pattern: how often, the highest score, samples; the most frequent first. */
function addEvidence(evidence: readonly Evidence[], members: readonly GroupedAnomaly[]): readonly Evidence[] {
  const byPattern = new Map(evidence.map(each => [each.patternId, each]))
  for (const { pattern_id: patternId, pattern, score, log_id, trace_id } of members) {
    const before = byPattern.get(patternId) ?? { patternId, pattern, count: 0, score: 0, logIds: [], traceIds: [] }
    byPattern.set(patternId, {
      ...before,
      count: before.count + 1,
      score: Math.max(before.score, score),
      logIds: addSample(before.logIds, log_id),
      traceIds: trace_id === undefined ? before.traceIds : addSample(before.traceIds, trace_id),
    })
  }
  return inReadingOrder([...byPattern.values()]).slice(0, MAX_PATTERNS)
}

function addSample(samples: readonly string[], sample: string): readonly string[] {
  return samples.length >= MAX_SAMPLES || samples.includes(sample) ? samples : [...samples, sample]
}

function highestScore(score: number, members: readonly GroupedAnomaly[]): number {
  return members.reduce((highest, member) => Math.max(highest, member.score), score)
}

/** The services named so far and those of a change; what finds no room is counted. */
function affectedBy(change: GroupingChange, before?: Incident): Pick<Incident, 'affectedServices' | 'furtherServices'> {
  const all = [...new Set([...(before?.affectedServices ?? []), ...change.affectedServices])]
  const further = Math.max(before?.furtherServices ?? 0, change.furtherServices ?? 0) + Math.max(0, all.length - MAX_AFFECTED)
  return { affectedServices: all.slice(0, MAX_AFFECTED), ...(further > 0 && { furtherServices: further }) }
}

function firstTrace(members: readonly GroupedAnomaly[]): string | undefined {
  const traced = members.filter(({ trace_id }) => trace_id !== undefined)
  return traced.sort((a, b) => compareTimestamps(a.timestamp, b.timestamp))[0]?.trace_id
}

/** Event times of the first and last anomaly. */
function seenSpan(before: Pick<Incident, 'firstSeen' | 'lastSeen'> | undefined, members: readonly GroupedAnomaly[]) {
  const times = members.map(({ timestamp }) => timestamp)
  if (before !== undefined) times.push(before.firstSeen, before.lastSeen)
  times.sort(compareTimestamps)
  return { firstSeen: times[0]!, lastSeen: times.at(-1)! }
}
