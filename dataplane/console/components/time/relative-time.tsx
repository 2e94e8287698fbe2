import { formatAgo, formatTime } from '../format.ts'
import { useNow } from './use-now.ts'

export interface RelativeTimeProps {
  readonly time: string
  /** Names the time in the tooltip, where no word stands beside it. */
  readonly what?: string
}

/** How long ago; a tooltip has the time itself, and so has paper (`global.css`), which ages. */
export function RelativeTime({ time, what }: RelativeTimeProps) {
  const nowMs = useNow()
  const moment = formatTime(time)
  return (
    <time dateTime={time} title={what === undefined ? moment : `${what}: ${moment}`} data-moment={moment} className="numeric">
      <span>{formatAgo(Date.parse(time), nowMs)}</span>
    </time>
  )
}
