import type { Incident } from '../../api/ticketing.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { ownTenant } from './rules/own-tenant.ts'

export interface TenantNameProps {
  readonly incident: Pick<Incident, 'tenantId'>
  readonly className?: string
}

/** The tenant of an incident in a list of all tenants: services of several tenants have one name. Nothing where one tenant is looked at. */
export function TenantName({ incident, className }: TenantNameProps) {
  const tenant = ownTenant(incident)
  const looksAt = parseTenant(useSearch())
  if (tenant === undefined || looksAt !== undefined) return null
  return (
    <span className={className} title={`Of tenant ${tenant}`}>
      {tenant}
    </span>
  )
}
