import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import { formatShort } from '../../../components/format.ts'
import { visibleText } from '../../../components/text/visible-text.ts'
import type { PatternTrend } from '../requests/patterns.ts'
import styles from './pattern-cell.module.css'
import { PatternText } from './pattern-text.tsx'

export interface PatternCellProps {
  readonly id: string
  /** Undefined while they are being read. */
  readonly details: Pick<PatternTrend, 'pattern' | 'level' | 'services' | 'otherCount'> | undefined
  readonly onOpen: () => void
}

/** A pattern in a table: its text, its level, and the services that log it. */
export function PatternCell({ id, details, onOpen }: PatternCellProps) {
  return (
    <button type="button" className={styles.pattern} onClick={onOpen} title={visibleText(details?.pattern ?? id)}>
      {details === undefined ? <span className={styles.reading}>…</span> : <PatternText text={details.pattern} />}
      <span className={styles.services}>
        {details !== undefined && <LevelBadge level={details.level} />}
        {details?.services.map(({ service, count }, _, all) => (
          <span key={service} className={styles.service}>
            <ServiceName name={service} />
            {(all.length > 1 || details.otherCount > 0) && ` ${formatShort(count)}`}
          </span>
        ))}
        {details !== undefined && details.otherCount > 0 && <span>others {formatShort(details.otherCount)}</span>}
      </span>
    </button>
  )
}
