import { serverNow } from '../api/server-clock.ts'
import { useShortcut } from '../components/keyboard/use-shortcut.ts'
import { browserZone, sayOffset, showUtc, zoneName } from '../components/time/clock.ts'
import { useShowsUtc } from '../components/time/use-shows-utc.ts'
import styles from './shell.module.css'

/** The zone of all times on the page, and the way to the other: UTC, or that of the browser. */
export function ClockChoice() {
  const isUtc = useShowsUtc()
  const zone = browserZone()
  const hasChoice = isUtc || zone !== 'UTC'
  const other = isUtc ? zone : 'UTC'
  const shown = sayOffset(serverNow())
  useShortcut('g c', 'Times in UTC or of this computer', () => showUtc(!isUtc), { enabled: hasChoice })
  if (!hasChoice)
    return (
      <span className={styles.zone} title="Times are in UTC">
        {shown}
      </span>
    )
  return (
    <button
      type="button"
      className={styles.zone}
      title={`Times are in ${zoneName()}. Show them in ${other}`}
      aria-label={`${shown}: show times in ${other}`}
      onClick={() => showUtc(!isUtc)}
    >
      {shown}
    </button>
  )
}
