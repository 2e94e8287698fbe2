import { DEFAULT_TENANT } from '../../../../contract/tenant-id.ts'
import type { Incident } from '../../../api/ticketing.ts'

/** The tenant by which an incident differs from others; undefined for that of installations with one alone. */
export function ownTenant({ tenantId }: Partial<Pick<Incident, 'tenantId'>>): string | undefined {
  return tenantId === DEFAULT_TENANT ? undefined : tenantId
}
