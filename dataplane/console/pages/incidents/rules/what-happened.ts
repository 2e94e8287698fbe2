/** The first sentences of an incident: the fault, its place, and the next step. */
import { inReadingOrder } from '../../../../domain/incidents/evidence-order.ts'
import type { Incident } from '../../../../domain/incidents/incident-fields.ts'
import { withoutHead } from '../../../../domain/records/line-head.ts'
import { withoutWrapping } from '../../../../domain/records/wrapped-exception.ts'
import { standsOut } from '../../../../domain/root-cause/stands-out.ts'
import { listWords } from '../../../../text/listed.ts'
import { shortened } from '../../../../text/shortened.ts'
import { titleOfTarget } from '../../settings/rules/platform-form.ts'

type Told = Pick<
  Incident,
  | 'status'
  | 'severity'
  | 'service'
  | 'affectedServices'
  | 'furtherServices'
  | 'anomalyCount'
  | 'evidence'
  | 'rootCause'
  | 'recurring'
  | 'dispatches'
  | 'lastSeen'
>

const MAX_NAMED = 3
const MAX_QUOTE = 140
const MAX_NAME = 80
/** The actor of escalations by time (Decisions 6). */
const AUTOMATIC = 'auto'
/** So long without an anomaly it may be over. */
const QUIET_MS = 15 * 60_000

/** `checkout logged 12 anomalies, most often “connection refused to <*>”; payment and cart are affected, too.` */
export function describeIncident({ service, anomalyCount, evidence, affectedServices, furtherServices }: Told): string {
  const [first] = inReadingOrder(evidence)
  const words = oneLine(withoutWrapping(withoutHead(first?.pattern ?? '')))
  const what = anomalyCount === 1 ? 'one anomaly' : `${anomalyCount} anomalies`
  const lead = anomalyCount === 1 ? ':' : first?.count === 1 ? ', among them' : ', most often'
  const most = words === '' ? '' : `${lead} “${words}”`
  return `${named(service)} logged ${what}${most}${describeOthers(
    affectedServices.filter(other => other !== service),
    furtherServices,
  )}.`
}

export interface NextStep {
  readonly text: string
  /** Nobody was told of the incident, and nobody will be unless the reader acts. */
  readonly isUrgent: boolean
}

/** The next step of the person who just opened the incident; `actor` brought it into its state, as far as that is known. */
export function nextStep(incident: Told, nowMs: number, actor?: string): NextStep {
  const { status, severity, recurring, lastSeen } = incident
  const failed = Object.entries(incident.dispatches ?? {}).flatMap(([target, dispatch]) => (dispatch.status === 'failed' ? [target] : []))
  const isQuiet = nowMs - Date.parse(lastSeen) > QUIET_MS
  if (status === 'resolved') return calm('Nothing more. Reopen it if it comes back.')
  if (failed.length > 0 && status === 'open')
    return {
      text: `${listWords(failed.map(titleOfTarget))} ${failed.length === 1 ? 'was' : 'were'} not told: retry below. ${whereToLook(incident)}`,
      isUrgent: true,
    }
  if (isQuiet && status !== 'open') return calm('No anomaly for a while. If the service is well again, resolve it.')
  if (status === 'acknowledged')
    return calm(`${actor === undefined ? 'Somebody looks at it' : `${actor} looks at it`}. ${whereToLook(incident)}`)
  if (status === 'escalated') return { text: `${whoEscalated(actor)} ${whereToLook(incident)}`, isUrgent: true }
  if (recurring === true)
    return calm(`${named(incident.service)} logs this all day. If it is known noise, silence it; if not, mend it in working hours.`)
  if (isQuiet) return calm(`No anomaly for a while. ${whereToLook(incident)}`)
  return {
    text: `Acknowledge it, so that others know you are on it. ${whereToLook(incident)}`,
    isUrgent: severity === 'critical' || severity === 'high',
  }
}

const whoEscalated = (actor: string | undefined): string =>
  actor === AUTOMATIC ? 'Nobody took it in time.' : `${actor ?? 'Somebody'} asked for help.`

const calm = (text: string): NextStep => ({ text, isUrgent: false })

function whereToLook({ service, rootCause }: Told): string {
  const [first, second] = rootCause?.candidates ?? []
  if (first === undefined || !standsOut(first)) return `Read what ${named(service)} logged, and what was changed shortly before.`
  const isClose = second !== undefined && second.score >= first.score / 2
  const rest = isClose ? `, then at ${named(second.service)}` : first.service === service ? '' : `; ${named(service)} only shows it`
  return `Look at ${named(first.service)} first${rest}.`
}

/** A service in a sentence; its whole name stands below. */
const named = (service: string): string => shortened(service, MAX_NAME)

function describeOthers(others: readonly string[], further = 0): string {
  if (others.length === 0) return ''
  const first = others.slice(0, MAX_NAMED).map(named)
  const rest = others.length - first.length + further
  const words = rest > 0 ? [...first, `${rest} more`] : first
  return `; ${listWords(words)} ${others.length === 1 ? 'is' : 'are'} affected, too`
}

function oneLine(text: string): string {
  return shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_QUOTE)
}
