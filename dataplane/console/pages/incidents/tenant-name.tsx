import type { Incident } from '../../api/ticketing.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { ownTenant } from './rules/own-tenant.ts'

export interface TenantNameProps {
  readonly incident: Pick<Incident, 'tenantId'>
  readonly className?: string
}

/** The tenant that an incident is to be told by in a list of all tenants: services of several tenants have one name. Undefined where one tenant is looked at. */
export function useTellingTenant(incident: TenantNameProps['incident']): string | undefined {
  const looksAt = parseTenant(useSearch())
  return looksAt === undefined ? ownTenant(incident) : undefined
}

export function TenantName({ incident, className }: TenantNameProps) {
  const tenant = useTellingTenant(incident)
  if (tenant === undefined) return null
  return (
    <span className={className} title={`Of tenant ${tenant}`}>
      {tenant}
    </span>
  )
}
