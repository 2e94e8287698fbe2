/** Whether a service began to log another `service.version` shortly before an incident: which version, since when. */
import type { SearchBody } from '../../logs/requests/scope.ts'

/** Fields of a record that are looked at. */
export interface VersionRecord {
  readonly timestamp: string
  readonly attributes?: unknown
}

export interface VersionChange {
  readonly service: string
  readonly version: string
  /** Undefined: records before it name no version. */
  readonly before: string | undefined
  /** Its first record, ms since the epoch. */
  readonly sinceMs: number
}

export interface VersionQuestion {
  readonly service: string
  readonly tenant: string
  /** The first anomaly. */
  readonly firstSeenMs: number
}

/** Only this field may be asked for: keys within `attributes` have no aggregations. */
const FIELD = 'attributes.service.version'
const MINUTE_MS = 60_000
/** A change that long before an incident is no likely cause. */
const SHORTLY_MS = 2 * 60 * MINUTE_MS
/** A version that is older than this is not new. */
const LOOK_BACK_MS = 24 * 60 * MINUTE_MS
/** Clocks of senders differ. */
const AFTER_MS = 2 * MINUTE_MS
/** Records that are looked at for versions; in a rollout, some are of the old one. */
const LATEST = 100
/** Versions that run beside each other. */
const MAX_VERSIONS = 3

type Search = (body: SearchBody) => Promise<readonly VersionRecord[]>

interface Asked {
  readonly fromMs: number
  readonly toMs: number
  readonly order: 'asc' | 'desc'
  readonly size: number
  readonly version?: string
  readonly otherThan?: string
}

function versionBody({ service, tenant }: VersionQuestion, { fromMs, toMs, order, size, version, otherThan }: Asked): SearchBody {
  const time = { gte: new Date(fromMs).toISOString(), lt: new Date(toMs).toISOString() }
  return {
    size,
    track_total_hits: false,
    _source: ['timestamp', 'attributes'],
    query: {
      bool: {
        filter: [
          { range: { timestamp: time } },
          { term: { service } },
          { term: { tenant_id: tenant } },
          ...(version === undefined ? [] : [{ term: { [FIELD]: version } }]),
        ],
        ...(otherThan !== undefined && { must_not: [{ term: { [FIELD]: otherThan } }] }),
      },
    },
    sort: [{ timestamp: order }],
  }
}

/** Undefined: no other version, or none that is known. */
export async function findVersionChange(search: Search, asked: VersionQuestion): Promise<VersionChange | undefined> {
  const { service, firstSeenMs } = asked
  const [fromMs, toMs] = [firstSeenMs - LOOK_BACK_MS, firstSeenMs + AFTER_MS]
  const latest = await search(versionBody(asked, { fromMs: firstSeenMs - SHORTLY_MS, toMs, order: 'desc', size: LATEST }))
  const versions = [...new Set(latest.flatMap(record => versionOf(record) ?? []))].slice(0, MAX_VERSIONS)
  const firsts = await Promise.all(
    versions.map(async version => {
      const [first] = await search(versionBody(asked, { fromMs, toMs, order: 'asc', size: 1, version }))
      return { version, sinceMs: first === undefined ? Number.NaN : Date.parse(first.timestamp) }
    }),
  )
  const newest = firsts.filter(({ sinceMs }) => sinceMs >= firstSeenMs - SHORTLY_MS).toSorted((a, b) => b.sinceMs - a.sinceMs)[0]
  if (newest === undefined) return undefined
  const { version, sinceMs } = newest
  const [earlier] = await search(versionBody(asked, { fromMs, toMs: sinceMs, order: 'desc', size: 1, otherThan: version }))
  // A service that logged nothing before has no version that changed.
  return earlier === undefined ? undefined : { service, version, before: versionOf(earlier), sinceMs }
}

function versionOf({ attributes }: VersionRecord): string | undefined {
  const version = (attributes as Readonly<Record<string, unknown>> | undefined)?.['service.version']
  return version === undefined || version === '' ? undefined : String(version)
}
