/** Services of an incident, each with its logs: the first few, since hundreds would push the cause out of sight, and all on a click. */
import { useState } from 'react'
import type { Incident } from '../../../api/ticketing.ts'
import { ServiceName } from '../../../components/badges/badges.tsx'
import { formatCount } from '../../../components/format.ts'
import { usePrinting } from '../../../components/layout/use-printing.ts'
import { visibleText } from '../../../components/text/visible-text.ts'
import { LogsAnchor } from '../logs-anchor.tsx'
import { logsOfService } from '../rules/logs-link.ts'
import styles from './detail.module.css'

const FIRST = 8

export function AffectedServices({ incident }: { readonly incident: Incident }) {
  const [showsAll, setShowsAll] = useState(false)
  const isPrinting = usePrinting()
  const { service, affectedServices, furtherServices = 0 } = incident
  const named = [...new Set([service, ...affectedServices])]
  const isCut = named.length > FIRST && !showsAll && !isPrinting
  return (
    <div className={styles.wideFact}>
      <dt>Services</dt>
      <dd className={styles.services}>
        {(isCut ? named.slice(0, FIRST) : named).map(each => (
          <LogsAnchor
            key={each}
            logs={logsOfService(each, incident)}
            className={styles.quietLink}
            title={`Logs of ${visibleText(each)} around the incident`}
          >
            <ServiceName name={each} />
          </LogsAnchor>
        ))}
        {isCut && (
          <button type="button" className={styles.showAll} onClick={() => setShowsAll(true)}>
            Show all {formatCount(named.length)}
          </button>
        )}
        {furtherServices > 0 && <span className={styles.faint}>{formatCount(furtherServices)} more, not named</span>}
      </dd>
    </div>
  )
}
