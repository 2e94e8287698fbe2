import { IconBuildingOff } from '@tabler/icons-react'
import { Link, useLocation } from 'wouter'
import { isTenant, TENANT_PARAMETER, wrongTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { ForeignText } from '../text/foreign-text.tsx'
import styles from './states.module.css'

/** The address names a tenant that cannot be: the page shows more than was asked for. */
export function TenantNotice() {
  const search = useSearch()
  const [path] = useLocation()
  const wrong = wrongTenant(search)
  if (wrong === undefined) return null
  const meant = wrong.trim().toLowerCase()
  const corrected = new URLSearchParams(search)
  corrected.set(TENANT_PARAMETER, meant)
  return (
    <div className={styles.stale}>
      <IconBuildingOff size={18} aria-hidden />
      <p>
        <strong role="alert">All tenants are shown: the address names one that cannot be.</strong> <ForeignText text={wrong} /> is not of
        lower-case letters, digits and hyphens. {isTenant(meant) && <Link href={`${path}?${corrected}`}>Look at {meant}</Link>}
      </p>
    </div>
  )
}
