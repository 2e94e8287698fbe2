import { TENANT_ID_PATTERN } from '../../contract/tenant-id.ts'

export function isTenantId(value: unknown): value is string {
  return typeof value === 'string' && TENANT_ID_PATTERN.test(value)
}

/** The tenant that the collector wrote a message for, by its key `<tenant>/<service>`; undefined when it names no valid one. */
export function tenantOfKey(key: string): string | undefined {
  const named = key.slice(0, Math.max(0, key.indexOf('/')))
  return isTenantId(named) ? named : undefined
}

/** The tenant a record names when that is valid, else the default. */
export function tenantOfRecord(named: string | undefined, defaultTenant: string): string {
  return isTenantId(named) ? named : defaultTenant
}
