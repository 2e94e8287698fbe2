import { TENANT_ID_PATTERN } from '../contract/tenant-id.ts'

export function isTenantId(value: unknown): value is string {
  return typeof value === 'string' && TENANT_ID_PATTERN.test(value)
}

/** The tenant a record names when that is valid, else the default. */
export function tenantOfRecord(named: string | undefined, defaultTenant: string): string {
  return isTenantId(named) ? named : defaultTenant
}
