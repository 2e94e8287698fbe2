import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useIsStale } from '../../components/states/stale.tsx'
import { findFaults, type HealthReadings } from './find-faults.ts'
import styles from './health.module.css'

/** One line when all is well, else what is not. Old answers say nothing of the present. */
export function Verdict(readings: HealthReadings) {
  const faults = findFaults(readings)
  const isKnown = readings.backends !== undefined && readings.infrastructure !== undefined && readings.bridge !== undefined
  const isStale = useIsStale()
  if (faults.length === 0 && !isKnown) return null
  const tone = faults[0]?.tone ?? (isStale ? 'warn' : 'good')
  return (
    <div className={styles.verdict} data-tone={tone} role="status">
      {tone === 'good' ? <IconCircleCheck size={20} aria-hidden /> : <IconAlertTriangle size={20} aria-hidden />}
      {faults.length === 0 ? (
        <p>
          {isStale
            ? 'Not known: everything worked at the last answer.'
            : 'Everything works: records get in, are looked at, and can be found.'}
        </p>
      ) : (
        <ul>
          {faults.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
