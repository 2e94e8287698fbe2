/** The records of one trace in their order, across services, with the time between them. */

import { Button, TextInput } from '@mantine/core'
import { IconRoute } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, type FormEvent, Fragment, useState } from 'react'
import { searchLogs } from '../../../api/search.ts'
import { LevelBadge, ServiceName } from '../../../components/badges/badges.tsx'
import { colorOf } from '../../../components/chart/service-color.ts'
import { CopyButton } from '../../../components/copy/copy-button.tsx'
import { formatCount } from '../../../components/format.ts'
import { Panel } from '../../../components/layout/panel.tsx'
import { EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { useLogsActions } from '../filters.ts'
import edge from '../level-edge.module.css'
import { LineText } from '../records/line-text.tsx'
import { clockTime, readRecords } from '../records/log-record.ts'
import { isTraceId, readTrace, TRACE_SIZE, type Trace, traceBody } from '../requests/trace.ts'
import { logsKey } from '../use-logs.ts'
import styles from './trace-mode.module.css'

/** Characters of a message. */
const MAX_MESSAGE = 500

export interface TraceModeProps {
  readonly traceId: string
  readonly onTrace: (traceId: string) => void
  readonly openId: string | undefined
}

export function TraceMode({ traceId, onTrace, openId }: TraceModeProps) {
  const isValid = isTraceId(traceId)
  const query = useQuery({
    queryKey: logsKey('trace', traceId),
    enabled: isValid,
    queryFn: async ({ signal }) => {
      const answer = await searchLogs(traceBody(traceId), signal)
      return { trace: readTrace(readRecords(answer)), total: answer.hits.total.value }
    },
  })
  return (
    <>
      <TraceForm key={traceId} traceId={traceId} onTrace={onTrace} />
      {!isValid ? (
        <EmptyState title="Which trace?" icon={IconRoute}>
          <p>Paste the id of a trace above, or open a record that has one and choose Trace.</p>
        </EmptyState>
      ) : query.error !== null ? (
        <ErrorPanel error={query.error} onRetry={() => query.refetch()} />
      ) : query.data === undefined ? (
        <Pending what="Reading the trace" />
      ) : query.data.trace.steps.length === 0 ? (
        <EmptyState title="No record has this trace" icon={IconRoute}>
          <p>Its records may be older than what is kept, may not have arrived yet, or belong to another tenant.</p>
        </EmptyState>
      ) : (
        <TraceSteps traceId={traceId} trace={query.data.trace} total={query.data.total} openId={openId} />
      )}
    </>
  )
}

function TraceForm({ traceId, onTrace }: Pick<TraceModeProps, 'traceId' | 'onTrace'>) {
  const [text, setText] = useState(traceId)
  const [isWrong, setWrong] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const id = text.trim()
    if (isTraceId(id)) onTrace(id)
    else setWrong(true)
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        aria-label="Trace id"
        placeholder="Trace id, 32 hex digits"
        value={text}
        error={isWrong && 'Expected 32 hex digits, such as 0c5c7fd0a6a3a4506513270e269e0d37'}
        onChange={event => {
          setText(event.currentTarget.value)
          setWrong(false)
        }}
        styles={{ input: { fontFamily: 'var(--font-mono)' } }}
        flex="1 1 14rem"
        maw={420}
      />
      <Button type="submit" variant="default">
        Show
      </Button>
      <p className={styles.hint}>A trace is shown whole, whatever the search and the time range say.</p>
    </form>
  )
}

interface TraceStepsProps {
  readonly traceId: string
  readonly trace: Trace
  readonly total: number
  readonly openId: string | undefined
}

function TraceSteps({ traceId, trace: { steps, services, durationMs }, total, openId }: TraceStepsProps) {
  const { openRecord, showOnly } = useLogsActions()
  const share = (ms: number) => (durationMs === 0 ? 0 : (100 * ms) / durationMs)
  return (
    <Panel
      title={`${formatMs(durationMs)} across ${services.length === 1 ? 'one service' : `${services.length} services`}`}
      note={
        total > TRACE_SIZE
          ? `the first ${formatCount(TRACE_SIZE)} of ${formatCount(total)} records`
          : `${formatCount(steps.length)} records, ${clockTime(steps[0]!.record.timestampMs, true)}`
      }
      flush
      actions={
        <>
          <Button variant="default" onClick={() => showOnly('trace_id', traceId)}>
            As records
          </Button>
          <CopyButton text={traceId} label="Copy the id of the trace" />
        </>
      }
    >
      <ol className={styles.steps} aria-label="Records of the trace">
        {steps.map(({ record, offsetMs, gapMs, isGap, isHandover }) => (
          <Fragment key={record.id}>
            {isGap && (
              <li className={styles.gap}>
                <span>{formatMs(gapMs)} without a record</span>
              </li>
            )}
            <li>
              <button
                type="button"
                className={`${styles.step} ${edge.edge}`}
                data-open={record.id === openId}
                aria-current={record.id === openId ? 'true' : undefined}
                data-handover={isHandover}
                data-level={record.level}
                onClick={() => openRecord(record)}
              >
                <span className={styles.offset}>+{formatMs(offsetMs)}</span>
                <span className={styles.lane} aria-hidden>
                  <i style={{ left: `${share(offsetMs - gapMs)}%`, width: `${share(gapMs)}%` } as CSSProperties} />
                  <b style={{ left: `${share(offsetMs)}%`, background: colorOf(record.service) }} />
                </span>
                <ServiceName name={record.service} />
                <LevelBadge level={record.level} />
                <span className={styles.message} dir="auto">
                  <LineText record={record} max={MAX_MESSAGE} />
                </span>
              </button>
            </li>
          </Fragment>
        ))}
      </ol>
    </Panel>
  )
}

function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(ms === 0 ? 0 : 2)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`
  const seconds = Math.round(ms / 1_000)
  const days = Math.floor(seconds / 86_400)
  if (days >= 1) return days < 10 ? `${days} d ${Math.floor(seconds / 3_600) % 24} h` : `${formatCount(days)} d`
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds / 60) % 60} min`
}
