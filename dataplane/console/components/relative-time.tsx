import { formatAgo, formatTime } from './format.ts'
import { useNow } from './use-now.ts'

/** How long ago; a tooltip has the time itself. */
export function RelativeTime({ time }: { readonly time: string }) {
  const nowMs = useNow()
  return (
    <time dateTime={time} title={formatTime(time)} className="numeric">
      {formatAgo(Date.parse(time), nowMs)}
    </time>
  )
}
