/** Records just before a record and just after it: of its instance, of its service, or of all. */

import { Button, SegmentedControl } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { searchLogsEach } from '../../../api/search.ts'
import { LevelBadge } from '../../../components/badges/badges.tsx'
import { ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { VisibleText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { useLogsActions } from '../filters.ts'
import { SURROUNDING_SIZE, surroundingBody } from '../requests/records.ts'
import { logsKey } from '../use-logs.ts'
import { LineText } from './line-text.tsx'
import { clockTime, type LogRecord, readRecords, valueAt } from './log-record.ts'
import styles from './surrounding.module.css'

/** Records of one side. */
const MAX_SIDE = 500
/** Characters of a message, and of the value of a field. */
const MAX_LINE = 300
const MAX_FIELD = 80

/** `instance`: the service on one host, which in Kubernetes is a pod. */
type SurroundingScope = 'instance' | 'service' | 'all'
const SCOPES: { readonly value: SurroundingScope; readonly label: string }[] = [
  { value: 'instance', label: 'This instance' },
  { value: 'service', label: 'This service' },
  { value: 'all', label: 'All services' },
]

export function Surrounding({ record }: { readonly record: LogRecord }) {
  const [scope, setScope] = useState<SurroundingScope>('service')
  const [sizes, setSizes] = useState({ before: SURROUNDING_SIZE, after: SURROUNDING_SIZE })
  const service = scope === 'all' ? undefined : record.service
  const { tenant_id: tenant, host: ownHost } = record.source
  const isNamed = typeof ownHost === 'string' && ownHost !== ''
  const host = isNamed && scope === 'instance' ? ownHost : undefined
  const here = useRef<HTMLLIElement>(null)
  const query = useQuery({
    queryKey: logsKey('surrounding', record.id, service, host, sizes),
    enabled: record.sort.length > 0,
    queryFn: async ({ signal }) => {
      const own = { sort: record.sort, service, host, tenant: typeof tenant === 'string' ? tenant : undefined }
      const sides = (['before', 'after'] as const).map(side => surroundingBody({ ...own, side, size: sizes[side] }))
      const [before, after] = (await searchLogsEach(sides, signal)).map(readRecords)
      return { before: before!.toReversed(), after: after! }
    },
    placeholderData: keepPreviousData,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: once there, the record itself is to be seen
  useEffect(() => {
    here.current?.scrollIntoView({ block: 'center' })
  }, [query.data === undefined, scope])

  const more = (side: 'before' | 'after') => setSizes(now => ({ ...now, [side]: Math.min(MAX_SIDE, now[side] + 2 * SURROUNDING_SIZE) }))
  const { data } = query
  return (
    <div className={styles.surrounding}>
      <SegmentedControl
        aria-label="Whose records"
        fullWidth
        value={scope}
        onChange={value => setScope(value as SurroundingScope)}
        data={SCOPES.filter(({ value }) => value !== 'instance' || isNamed)}
      />
      {query.error !== null && <ErrorPanel error={query.error} onRetry={() => query.refetch()} small />}
      {data === undefined ? (
        query.error === null && <Pending />
      ) : (
        <>
          <MoreButton side="before" count={data.before.length} asked={sizes.before} onMore={() => more('before')} />
          <ol className={styles.list}>
            {data.before.map(other => (
              <Line key={other.id} record={other} withService={scope === 'all'} />
            ))}
            <li ref={here} className={styles.here} aria-current="true">
              <LineContent record={record} withService={scope === 'all'} />
            </li>
            {data.after.map(other => (
              <Line key={other.id} record={other} withService={scope === 'all'} />
            ))}
          </ol>
          <MoreButton side="after" count={data.after.length} asked={sizes.after} onMore={() => more('after')} />
        </>
      )}
    </div>
  )
}

interface MoreButtonProps {
  readonly side: 'before' | 'after'
  readonly count: number
  readonly asked: number
  readonly onMore: () => void
}

function MoreButton({ side, count, asked, onMore }: MoreButtonProps) {
  if (count < asked) return <p className={styles.end}>{side === 'before' ? 'Nothing earlier.' : 'Nothing later.'}</p>
  if (asked >= MAX_SIDE) return <p className={styles.end}>{MAX_SIDE} are shown; search by time for more.</p>
  return (
    <Button variant="subtle" size="compact-xs" onClick={onMore}>
      {side === 'before' ? 'Earlier' : 'Later'}
    </Button>
  )
}

function Line({ record, withService }: { readonly record: LogRecord; readonly withService: boolean }) {
  const { openRecord } = useLogsActions()
  return (
    <li>
      <button type="button" onClick={() => openRecord(record)}>
        <LineContent record={record} withService={withService} />
      </button>
    </li>
  )
}

function LineContent({ record, withService }: { readonly record: LogRecord; readonly withService: boolean }) {
  const { columns } = useLogsActions()
  // The columns of the table show here, too; a service that is the same in all lines says nothing.
  const fields = columns.flatMap(field => {
    const value = field === 'service' && !withService ? '' : valueAt(record.source, field)
    return value === '' ? [] : [{ field, value: value.slice(0, MAX_FIELD) }]
  })
  return (
    <>
      <time>{clockTime(record.timestampMs, false)}</time>
      <LevelBadge level={record.level} />
      <span className={styles.text} dir="auto">
        <LineText record={record} max={MAX_LINE} />
      </span>
      {fields.length > 0 && (
        <span className={styles.fields}>
          {fields.map(({ field, value }) => (
            <bdi key={field} title={visibleText(field)}>
              <VisibleText text={field === 'service' ? value : `${field}=${value}`} />
            </bdi>
          ))}
        </span>
      )}
    </>
  )
}
