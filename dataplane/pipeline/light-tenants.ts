import { tenantIn } from '../domain/tenants/tenant.ts'
import type { ConsumedRecord } from '../ports/bus.ts'

/** Tenants with the fewest bytes are light up to this share of a batch. */
export const LIGHT_SHARE = 0.25
/** A smaller batch is not divided: the wait that it causes costs less than a second request. */
export const MIN_DIVIDED_BYTES = 131_072

export interface DividedBatch {
  readonly light: readonly ConsumedRecord[]
  /** Empty when all is light. */
  readonly heavy: readonly ConsumedRecord[]
}

/**
 * Divides a batch, so that tenants that bring little need not wait for those that bring much. Records of one tenant stay together, and in
 * their order; keys that name no tenant count as one. A batch of one tenant is heavy, one below `MIN_DIVIDED_BYTES` light.
 */
export function divideByTenant(records: readonly ConsumedRecord[]): DividedBatch {
  let total = 0
  for (const { value } of records) total += value.length
  if (total < MIN_DIVIDED_BYTES) return { light: records, heavy: [] }
  const tenants = bytesByTenant(records)
  if (tenants.size === 1) return { light: [], heavy: records }
  const light = new Set<string>()
  let lightBytes = 0
  for (const [tenant, bytes] of [...tenants].sort(([, a], [, b]) => a - b)) {
    lightBytes += bytes
    if (lightBytes > LIGHT_SHARE * total) break
    light.add(tenant)
  }
  const { true: ofLight = [], false: ofHeavy = [] } = Object.groupBy(records, ({ key }) => `${light.has(tenantIn(key))}` as const)
  return { light: ofLight, heavy: ofHeavy }
}

function bytesByTenant(records: readonly ConsumedRecord[]): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  let lastKey: string | undefined
  let tenant = ''
  for (const { key, value } of records) {
    // Records of one key mostly follow each other.
    if (key !== lastKey) tenant = tenantIn(key)
    lastKey = key
    bytes.set(tenant, (bytes.get(tenant) ?? 0) + value.length)
  }
  return bytes
}
