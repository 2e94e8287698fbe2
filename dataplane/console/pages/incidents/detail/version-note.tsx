import { DEFAULT_TENANT } from '../../../../contract/tenant-id.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { formatMoment } from '../../../components/format.ts'
import { ForeignText } from '../../../components/text/foreign-text.tsx'
import { useVersionChange } from '../data/use-incidents.ts'
import { LogsAnchor } from '../logs-anchor.tsx'
import { logsOfVersion } from '../rules/logs-link.ts'
import styles from './detail.module.css'

export type Changed = Pick<Incident, 'service' | 'tenantId' | 'rootCause' | 'firstSeen' | 'lastSeen'>

/** Another version of the likely cause shortly before the incident; nothing where there is none. */
export function VersionNote({ incident }: { readonly incident: Changed }) {
  const { service, tenantId = DEFAULT_TENANT, rootCause, firstSeen } = incident
  const asked = { service: rootCause?.candidates[0]?.service ?? service, tenant: tenantId, firstSeenMs: Date.parse(firstSeen) }
  const change = useVersionChange(asked)
  if (change === undefined) return null
  return (
    <p className={styles.version}>
      <LogsAnchor logs={logsOfVersion(change, incident)} className={styles.reason}>
        <span>
          <ForeignText text={change.service} /> logs version{' '}
          <b>
            <ForeignText text={change.version} />
          </b>{' '}
          since {formatMoment(change.sinceMs)}
          {change.before !== undefined && (
            <>
              , before that <ForeignText text={change.before} />
            </>
          )}
        </span>
      </LogsAnchor>
    </p>
  )
}
