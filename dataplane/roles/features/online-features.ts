/** `POST /get-online-features` as the Feast feature server answers it (Decisions 9). */
import { z } from 'zod'
import { TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'
import { FEATURE_NAMES, FEATURE_VIEW, type FeatureName, isFeatureName, JOIN_KEYS } from '../../domain/features/feature-view.ts'
import { formatEventTime } from '../../domain/time/event-time.ts'
import { boundedList } from '../../http/bounded-list.ts'
import { HttpError } from '../../http/http-error.ts'
import type { FeatureKey, FeatureRow, OnlineStore } from '../../ports/online-store.ts'
import { countRows, textOf } from './columns.ts'
import type { RowTurns } from './rows-in-turns.ts'

/** References to features of one request; there are four features. */
const MAX_FEATURES = 100

/** Unknown members are ignored, since a client may be newer than this server. */
export const OnlineFeaturesRequest = z.looseObject({
  features: boundedList(z.string(), { most: MAX_FEATURES }).default([]),
  feature_service: z.string().nullish(),
  entities: z.record(z.string(), z.array(z.unknown())),
  full_feature_names: z.boolean().default(false),
  include_feature_view_version_metadata: z.boolean().default(false),
})
export type OnlineFeaturesRequest = z.output<typeof OnlineFeaturesRequest>

/** One column of the answer. */
interface FeatureVector {
  readonly values: readonly (string | number | null)[]
  readonly statuses: readonly ('PRESENT' | 'NOT_FOUND')[]
  readonly event_timestamps: readonly string[]
}

export interface OnlineFeaturesResponse {
  readonly results: readonly FeatureVector[]
  readonly metadata: { readonly feature_names: readonly string[]; readonly feature_view_metadata?: readonly { readonly name: string }[] }
}

export interface RowReader {
  readonly store: OnlineStore
  readonly turns: RowTurns
}

/** `tenant` is the caller's: the caller need not name it, and finds no features of other tenants. */
export async function getOnlineFeatures(
  { store, turns }: RowReader,
  request: OnlineFeaturesRequest,
  tenant: string | undefined,
): Promise<OnlineFeaturesResponse> {
  if (request.feature_service != null)
    throw new HttpError(404, `feature_service: there is none named ${JSON.stringify(request.feature_service)}`)
  const features = parseFeatures(request.features)
  const rowCount = countRows('entities', request.entities)
  if (rowCount === 0) throw new HttpError(400, `entities: expected lists of ${JOIN_KEYS.join(' and ')}, seen no values`)
  const entities = Object.entries(request.entities).filter(([name]) => (JOIN_KEYS as readonly string[]).includes(name))
  const columns = Object.fromEntries(
    entities.map(([name, values]) => [name, values.map((value, i) => textOf(value, `entities.${name}.${i}`))]),
  )
  const rows = await readRows(
    { store, turns },
    { ...(tenant !== undefined && { tenant_id: Array(rowCount).fill(tenant) as string[] }), ...columns },
    rowCount,
    tenant,
  )
  const times = rows.map(row => (row === undefined ? NO_TIME : formatEventTime(row.eventMs)))
  const prefix = request.full_feature_names ? `${FEATURE_VIEW}__` : ''
  return {
    results: [...Object.values(columns).map(entityVector), ...features.map(feature => featureVector(feature, rows, times))],
    metadata: {
      feature_names: [...Object.keys(columns), ...features.map(feature => prefix + feature)],
      ...(request.include_feature_view_version_metadata && { feature_view_metadata: [{ name: FEATURE_VIEW }] }),
    },
  }
}

/** `service_stats:ml_error_rate_1h`, or the feature alone. */
function parseFeatures(references: readonly string[]): readonly FeatureName[] {
  if (references.length === 0)
    throw new HttpError(400, `features: expected some of ${FEATURE_NAMES.map(name => `${FEATURE_VIEW}:${name}`).join(', ')}, seen none`)
  const features = references.map(reference => {
    const colon = reference.indexOf(':')
    const view = colon < 0 ? FEATURE_VIEW : reference.slice(0, colon)
    const name = reference.slice(colon + 1)
    if (view !== FEATURE_VIEW) throw new HttpError(404, `features: expected the feature view ${FEATURE_VIEW}, seen ${JSON.stringify(view)}`)
    if (!isFeatureName(name))
      throw new HttpError(400, `features: expected one of ${FEATURE_NAMES.join(', ')}, seen ${JSON.stringify(name)}`)
    return name
  })
  const twice = features.find((name, i) => features.indexOf(name) < i)
  if (twice !== undefined) throw new HttpError(400, `features: ${twice} is given more than once`)
  return features
}

type Columns = Readonly<Record<string, readonly string[]>>

async function readRows(
  { store, turns }: RowReader,
  { tenant_id: tenants, service: services }: Columns,
  rowCount: number,
  tenant: string | undefined,
): Promise<readonly (FeatureRow | undefined)[]> {
  const none: undefined[] = Array(rowCount).fill(undefined)
  if (tenants === undefined || services === undefined) return none
  const places: number[] = []
  const keys: FeatureKey[] = []
  for (let i = 0; i < rowCount; i++) {
    const isVisible = TENANT_ID_PATTERN.test(tenants[i]!) && (tenant === undefined || tenants[i] === tenant)
    if (!isVisible) continue
    places.push(i)
    keys.push({ tenant: tenants[i]!, service: services[i]! })
  }
  const rows: (FeatureRow | undefined)[] = none
  let read = 0
  await turns.run(tenant, keys, async portion => {
    for (const row of await store.read(portion)) rows[places[read++]!] = row
  })
  return rows
}

/** A value without a time of its own has Unix time 0. */
const NO_TIME = formatEventTime(0)

function entityVector(values: readonly string[]): FeatureVector {
  return { values, statuses: values.map(() => 'PRESENT'), event_timestamps: values.map(() => NO_TIME) }
}

/** A row whose feature is unknown is there, with null. */
function featureVector(feature: FeatureName, rows: readonly (FeatureRow | undefined)[], times: readonly string[]): FeatureVector {
  return {
    values: rows.map(row => row?.values[feature] ?? null),
    statuses: rows.map(row => (row === undefined ? 'NOT_FOUND' : 'PRESENT')),
    event_timestamps: times,
  }
}
