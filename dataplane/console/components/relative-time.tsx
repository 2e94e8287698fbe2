import { formatAgo, formatTime } from './format.ts'
import { useNow } from './use-now.ts'

export interface RelativeTimeProps {
  readonly time: string
  /** Names the time in the tooltip, where no word stands beside it. */
  readonly what?: string
}

/** How long ago; a tooltip has the time itself. */
export function RelativeTime({ time, what }: RelativeTimeProps) {
  const nowMs = useNow()
  return (
    <time dateTime={time} title={what === undefined ? formatTime(time) : `${what}: ${formatTime(time)}`} className="numeric">
      {formatAgo(Date.parse(time), nowMs)}
    </time>
  )
}
