/** `POST /push` as the Feast feature server takes it (Decisions 9). */
import { z } from 'zod'
import { TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'
import { isTooFarAhead } from '../../domain/features/feature-hour.ts'
import { FEATURE_NAMES, FEATURE_VIEW, type FeatureName, INTEGER_FEATURES } from '../../domain/features/feature-view.ts'
import { parseEventTime } from '../../domain/time/event-time.ts'
import { HttpError } from '../../http/http-error.ts'
import type { FeatureRow } from '../../ports/online-store.ts'
import { countRows, textOf } from './columns.ts'

const Columns = z.record(z.string(), z.array(z.unknown()))
type Columns = z.output<typeof Columns>

export const PushRequest = z.looseObject({ push_source_name: z.string(), df: Columns, to: z.string().default('online') })
export type PushRequest = z.output<typeof PushRequest>

/** The body of `POST /write-to-online-store`, which Feast's own client uses. */
export const WriteRequest = z.looseObject({ feature_view_name: z.string(), df: Columns })

export interface PushContext {
  /** The caller's tenant: the caller need not name it, and may not write for another. */
  readonly tenant: string | undefined
  readonly nowMs: number
}

export function parsePush({ push_source_name: source, df, to }: PushRequest, context: PushContext): readonly FeatureRow[] {
  if (source !== FEATURE_VIEW) throw new HttpError(404, `push_source_name: expected ${FEATURE_VIEW}, seen ${JSON.stringify(source)}`)
  if (to !== 'online') throw new HttpError(400, `to: expected online, since there is no offline store, seen ${JSON.stringify(to)}`)
  return parseRows(df, context)
}

/**
 * Rows by the columns `tenant_id`, `service`, `event_timestamp` (default: now) and any of the features; features without a column keep
 * what they were. Other columns are left alone. Throws `HttpError`.
 */
export function parseRows(df: Columns, { tenant, nowMs }: PushContext): readonly FeatureRow[] {
  const rowCount = countRows('df', df)
  const features = FEATURE_NAMES.filter(name => df[name] !== undefined)
  if (rowCount > 0) assertColumns(df, features, tenant)
  return Array.from({ length: rowCount }, (_, i) => ({
    tenant: rowTenant(df, i, tenant),
    service: textOf(df['service']![i], `df.service.${i}`),
    values: Object.fromEntries(features.map(name => [name, featureValue(name, df[name]![i], i)])),
    eventMs: df['event_timestamp'] === undefined ? nowMs : eventTime(df['event_timestamp'][i], i, nowMs),
    writtenMs: nowMs,
  }))
}

function assertColumns(df: Columns, features: readonly FeatureName[], tenant: string | undefined): void {
  const missing = ['tenant_id', 'service'].filter(name => df[name] === undefined && !(name === 'tenant_id' && tenant !== undefined))
  const problems = missing.map(name => `df.${name}: expected a list, seen nothing`)
  if (features.length === 0) problems.push(`df: expected a column for at least one of ${FEATURE_NAMES.join(', ')}`)
  if (problems.length > 0) throw new HttpError(400, problems.join('; '))
}

function rowTenant(df: Columns, i: number, own: string | undefined): string {
  if (df['tenant_id'] === undefined) return own!
  const tenant = textOf(df['tenant_id'][i], `df.tenant_id.${i}`)
  if (!TENANT_ID_PATTERN.test(tenant)) throw new HttpError(400, `df.tenant_id.${i}: expected a tenant id, seen ${JSON.stringify(tenant)}`)
  if (own !== undefined && tenant !== own)
    throw new HttpError(403, `df.tenant_id.${i}: expected the caller's tenant ${own}, seen ${tenant}`)
  return tenant
}

function featureValue(name: FeatureName, value: unknown, i: number): number | null {
  const wanted = INTEGER_FEATURES.has(name) ? 'an integer' : 'a number'
  if (value === null) return null
  if (typeof value === 'number' && Number.isFinite(value) && (wanted === 'a number' || Number.isSafeInteger(value))) return value
  throw new HttpError(400, `df.${name}.${i}: expected ${wanted} or null, seen ${JSON.stringify(value)}`)
}

function eventTime(value: unknown, i: number, nowMs: number): number {
  const ms = parseEventTime(value)
  if (ms === undefined)
    throw new HttpError(400, `df.event_timestamp.${i}: expected a time such as 2026-01-31T12:00:00Z, seen ${JSON.stringify(value)}`)
  if (isTooFarAhead(ms, nowMs))
    throw new HttpError(400, `df.event_timestamp.${i}: expected a time at most one day ahead, seen ${JSON.stringify(value)}`)
  return ms
}
