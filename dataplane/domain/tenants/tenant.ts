import { TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'

export function isTenantId(value: unknown): value is string {
  return typeof value === 'string' && TENANT_ID_PATTERN.test(value)
}

/** The key of a bus message with logs of a service (Decisions 3). */
export const busKey = (tenant: string, service: string): string => `${tenant}/${service}`

/** The part of a key `<tenant>/<service>` where the tenant stands, valid or not; `''` for all keys of another form. */
export function tenantIn(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}

/** The tenant that the collector wrote a message for, by its key `<tenant>/<service>`; undefined when it names no valid one. */
export function tenantOfKey(key: string): string | undefined {
  const named = tenantIn(key)
  return isTenantId(named) ? named : undefined
}

/** The tenant a record names when that is valid, else the default. */
export function tenantOfRecord(named: string | undefined, defaultTenant: string): string {
  return isTenantId(named) ? named : defaultTenant
}
