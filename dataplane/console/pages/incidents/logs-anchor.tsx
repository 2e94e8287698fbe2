import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useLink } from '../../url-state/links.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { type LogsQuery, queryFor } from './rules/logs-link.ts'

export interface LogsAnchorProps {
  readonly logs: LogsQuery
  readonly className?: string | undefined
  /** The target of the link, where the text alone does not say it. */
  readonly title?: string
  readonly children: ReactNode
}

/** A link to the logs that show something. */
export function LogsAnchor({ logs, className, title, children }: LogsAnchorProps) {
  const hrefOf = useLogsHref()
  return (
    <Link href={hrefOf(logs)} className={className} title={title}>
      {children}
    </Link>
  )
}

/** Where the link leads. */
export function useLogsHref(): (logs: LogsQuery) => string {
  const link = useLink()
  const looksAt = parseTenant(useSearch())
  return logs => {
    const { trace, record, from, to } = logs
    const shown = trace === undefined ? { q: queryFor(logs, looksAt) } : { mode: 'trace', trace }
    const open = record === undefined ? {} : { record, tab: 'surrounding' }
    return link('/logs', { ...shown, ...open, from, to, range: undefined })
  }
}
