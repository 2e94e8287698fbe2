/**
 * Whom a benign life wakes: a system that is well, made up from seeds, through what the bridge does; and how soon outages in it are seen, beside the same
 * outages in a quiet hour.
 */
import type { Severity } from '../../../dataplane/contract/platforms.ts'
import type { TargetId } from '../../../dataplane/contract/target-id.ts'
import { attend, type TicketedIncident } from '../../../dataplane/domain/tickets/incident-tickets.ts'
import {
  LIFE_FROM_MS,
  liveOn,
  OUTAGE_MS,
  type PlacedOutage,
  requestsPerMinute,
} from '../../../dataplane/testing/benign-life/benign-life.ts'
import { FURTHER_OUTAGES } from '../../../dataplane/testing/outages/further-outages.ts'
import { buildSystem, OUTAGE_AT_MS, type RawRecord } from '../../../dataplane/testing/outages/outage-system.ts'
import { OUTAGES } from '../../../dataplane/testing/outages/outages.ts'
import { formatTable } from '../table.ts'
import { BridgeInProcess, type OpenedIncident } from './bridge-in-process.ts'

const TENANT = 'benign'
const RECORDS_AT_ONCE = 200
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const HOURS = 30
/** The first hours, in which the system is not known yet, are not counted. */
const FIRST_HOURS = 6
/** Between two outages. */
const OUTAGE_EVERY_HOURS = 2
const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low']
/** One platform for each severity, as a first day's configuration has it. */
const PLATFORM = 'slack' as TargetId
const RULES = {
  targets: new Map([[PLATFORM, { enabled: true }]]),
  routing: { critical: [PLATFORM], high: [PLATFORM], medium: [PLATFORM], low: [PLATFORM] },
  declaredRoutes: [],
}

export interface BenignOptions {
  /** How many systems, with and without traces by turns. */
  readonly lives: number
  /** Default 1. */
  readonly first?: number
  /** Each incident is printed. */
  readonly isVerbose?: boolean
  /** Default: thirty. */
  readonly hours?: number
  /** The bridge starts anew so often, with and without habits kept; no outages then. Default: never. */
  readonly restartHours?: number
}

export function measureBenign({ lives, first = 1, isVerbose = false, hours = HOURS, restartHours }: BenignOptions): void {
  const rows: (readonly string[])[] = []
  const found: Seen[] = []
  for (let seed = first; seed < first + lives; seed++) {
    const hasTraces = seed % 2 === 1
    const name = `system ${seed}, ${hasTraces ? 'traces' : 'no traces'}`
    const calm = live({ seed, hasTraces, hours, outages: [] })
    if (isVerbose) printIncidents(calm.opened)
    rows.push(describe(name, calm))
    if (restartHours === undefined) found.push(...seenOutages(seed, hasTraces, isVerbose))
    else
      for (const keepsHabits of [false, true]) {
        const restarted = live({ seed, hasTraces, hours, outages: [], restartMs: restartHours * HOUR_MS, keepsHabits })
        if (isVerbose) printIncidents(restarted.opened)
        rows.push(describe(`the same, a start every ${restartHours} h, habits ${keepsHabits ? 'kept' : 'forgotten'}`, restarted))
      }
  }
  const header = [
    'a benign life: incidents from its seventh hour on (not recurring)',
    'records',
    'all',
    ...SEVERITIES,
    'dispatches',
    'with recurring ones quiet',
  ]
  console.log(`\n${formatTable(header, rows)}`)
  if (found.length > 0) printSeen(found)
}

interface Life {
  readonly records: number
  readonly opened: readonly OpenedIncident[]
  /** Events for one platform, with recurring incidents told and not. */
  readonly dispatches: Told
  readonly quiet: Told
}

interface Told {
  total: number
}

interface LifeOptions {
  readonly seed: number
  readonly hasTraces: boolean
  readonly hours: number
  readonly outages: readonly PlacedOutage[]
  readonly restartMs?: number
  readonly keepsHabits?: boolean
}

function live({ seed, hasTraces, hours, outages, ...restarts }: LifeOptions): Life {
  const [dispatches, quiet]: Told[] = [{ total: 0 }, { total: 0 }]
  const tickets = new Map<OpenedIncident, { loud: TicketedIncident; quiet: TicketedIncident }>()
  const tell = (opened: OpenedIncident, timeMs: number) => {
    const before = tickets.get(opened)
    const isCounted = opened.firstSeenMs >= LIFE_FROM_MS + FIRST_HOURS * HOUR_MS
    const told = (quietRecurring: boolean, last: TicketedIncident | undefined, counted: Told): TicketedIncident => {
      const next = attend(
        { ...opened.incident, ...(last && { ticketing: last.ticketing, platforms: last.platforms }) } as TicketedIncident,
        { nowMs: timeMs, rules: RULES, silences: [], quietRecurring },
      )
      const seqBefore = last?.ticketing?.seq ?? 0
      if (isCounted)
        counted.total += (next.ticketing?.owed ?? []).filter(({ seq, quiet: isHeld }) => seq > seqBefore && isHeld === undefined).length
      return next
    }
    tickets.set(opened, { loud: told(false, before?.loud, dispatches!), quiet: told(true, before?.quiet, quiet!) })
  }
  const bridge = new BridgeInProcess({ tenant: TENANT, hasFeatures: true, onChange: tell, ...restarts })
  let records = 0
  for (const part of liveOn({ seed, hasTraces, hours, outages })) {
    records += part.length
    send(bridge, part)
  }
  return { records, opened: [...bridge.incidents.values()], dispatches: dispatches!, quiet: quiet! }
}

function send(bridge: BridgeInProcess, records: readonly RawRecord[]): void {
  for (let from = 0; from < records.length; from += RECORDS_AT_ONCE) {
    const chunk = records.slice(from, from + RECORDS_AT_ONCE)
    bridge.take(JSON.stringify({ resourceLogs: chunk.map(toResource) }), chunk.at(-1)!.timeMs)
  }
}

function toResource({ timeMs, service, level, message, traceId, spanId, pod }: RawRecord): object {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  return {
    resource: { attributes: [attribute('service.name', service), attribute('k8s.pod.name', pod), attribute('tenant_id', TENANT)] },
    scopeLogs: [
      {
        logRecords: [
          {
            ...{ timeUnixNano: `${BigInt(Math.round(timeMs * 1_000)) * 1_000n}`, body: { stringValue: message } },
            ...(level !== undefined && { severityText: level }),
            ...(traceId !== '' && { traceId, spanId }),
          },
        ],
      },
    ],
  }
}

function describe(name: string, { records, opened, dispatches, quiet }: Life): readonly string[] {
  const day = opened.filter(({ firstSeenMs }) => firstSeenMs >= LIFE_FROM_MS + FIRST_HOURS * HOUR_MS)
  const count = (some: readonly OpenedIncident[]) => `${some.length} (${some.filter(({ recurring }) => !recurring).length})`
  const of = (severity: Severity) => count(day.filter(({ incident }) => incident.severity === severity))
  return [name, String(records), count(day), ...SEVERITIES.map(of), String(dispatches.total), String(quiet.total)]
}

const clock = (timeMs: number) => new Date(timeMs).toISOString().slice(8, 19).replace('T', ' ')

function printIncidents(opened: readonly OpenedIncident[]): void {
  for (const { incident, recurring, firstSeenMs } of opened)
    console.log(
      [
        ...[clock(firstSeenMs), incident.severity, recurring ? 'recurring' : '-', `${incident.anomalyCount}`],
        ...[`[${incident.affectedServices.length}]`, incident.title],
      ].join('  '),
    )
}

interface Seen {
  readonly name: string
  readonly atMs: number
  readonly alone: number
  readonly inLife: number
}

/** Outages of each life: by turns of all that need no other load and no tries; one every two hours. */
function seenOutages(seed: number, hasTraces: boolean, isVerbose: boolean): readonly Seen[] {
  const known = Object.entries({ ...OUTAGES, ...FURTHER_OUTAGES }).filter(
    ([, { culprits, outage }]) => culprits.length > 0 && outage.tries === undefined && outage.load === undefined,
  )
  const placed = Array.from({ length: (HOURS - FIRST_HOURS) / OUTAGE_EVERY_HOURS }, (_, nth): PlacedOutage => {
    const [name, outage] = known[(nth * 7 + seed * 11) % known.length]!
    return {
      name,
      known: outage,
      atMs: (FIRST_HOURS + nth * OUTAGE_EVERY_HOURS) * HOUR_MS + ((nth * 17 + seed * 5) % 54) * MINUTE_MS + MINUTE_MS,
    }
  })
  const { opened } = live({ seed, hasTraces, hours: HOURS, outages: placed })
  if (isVerbose) printIncidents(opened)
  return placed.map(({ name, known: outage, atMs }) => ({
    name,
    alone: secondsAlone({ name, known: outage, atMs }, seed, hasTraces),
    atMs,
    inLife: secondsTo(opened, LIFE_FROM_MS + atMs),
  }))
}

function secondsAlone({ known: { outage }, atMs }: PlacedOutage, seed: number, hasTraces: boolean): number {
  const bridge = new BridgeInProcess({ tenant: TENANT })
  const { records } = buildSystem(outage, {
    ...{ seed, hasTraces, beforeMs: 20 * MINUTE_MS, windowMs: OUTAGE_MS, requestsPerMinute: requestsPerMinute(atMs) },
  })
  send(
    bridge,
    records.toSorted((a, b) => a.timeMs - b.timeMs),
  )
  return secondsTo([...bridge.incidents.values()], OUTAGE_AT_MS)
}

/** Seconds from the start of an outage to the first incident that is not recurring, and was not before; infinite where there is none before the outage's end. */
function secondsTo(opened: readonly OpenedIncident[], atMs: number): number {
  const after = opened
    .filter(({ recurring, loudMs }) => !recurring && loudMs >= atMs && loudMs < atMs + OUTAGE_MS)
    .map(({ loudMs }) => loudMs)
  return (Math.min(...after) - atMs) / 1_000
}

function printSeen(all: readonly Seen[]): void {
  const median = (times: readonly number[]) => {
    const sorted = times.filter(Number.isFinite).toSorted((a, b) => a - b)
    return sorted.length === 0 ? '–' : String(Math.round(sorted[Math.floor(sorted.length / 2)]!))
  }
  const of = (pick: (seen: Seen) => number) => [
    `${all.filter(seen => Number.isFinite(pick(seen))).length}/${all.length}`,
    median(all.map(pick)),
  ]
  console.log(
    `\n${formatTable(
      ['outages seen while they last', 'seen', 'median s'],
      [
        ['in a quiet hour', ...of(({ alone }) => alone)],
        ['in a benign life', ...of(({ inLife }) => inLife)],
      ],
    )}`,
  )
  const list = (some: readonly Seen[]) =>
    [...new Set(some.map(({ name, atMs }) => `${name} (${clock(LIFE_FROM_MS + atMs).slice(3, 8)})`))].join('; ') || 'none'
  console.log(
    `\nHidden by the life (seen alone, not in it): ${list(all.filter(({ alone, inLife }) => Number.isFinite(alone) && !Number.isFinite(inLife)))}.`,
  )
  console.log(`\nSeen in neither: ${list(all.filter(({ alone, inLife }) => !Number.isFinite(alone) && !Number.isFinite(inLife)))}.`)
}
