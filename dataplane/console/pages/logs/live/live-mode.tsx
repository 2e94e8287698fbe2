/** Records as they come, the newest on top; pause holds them still. */
import { Button } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { formatCount, formatShort } from '../../../components/format.ts'
import { useIsStale, useReading } from '../../../components/stale.tsx'
import { EmptyState, ErrorPanel } from '../../../components/states.tsx'
import { useShortcut } from '../../../components/use-shortcut.ts'
import type { LogRecord } from '../records/log-record.ts'
import { RecordTable } from '../records/record-table.tsx'
import { MAX_LIVE_RECORDS } from './live-buffer.ts'
import styles from './live-mode.module.css'
import { type Live, POLL_MS } from './use-live.ts'

export interface LiveModeProps {
  readonly live: Live
  readonly columns: readonly string[]
  readonly marks: RegExp | undefined
  readonly wrap: boolean
  readonly openId: string | undefined
  readonly onOpen: (record: LogRecord) => void
}

export function LiveMode({ live, columns, marks, wrap, openId, onOpen }: LiveModeProps) {
  const { buffer, isRunning, error, setRunning, clear, answeredMs, missing } = live
  useReading({ answeredMs, everyMs: isRunning ? POLL_MS : undefined, error, missing })
  const isStale = useIsStale()
  const isWaiting = error !== null || (isRunning && isStale)
  useShortcut('p', 'Pause or go on', () => setRunning(!isRunning), { group: 'Logs' })
  return (
    <section className={styles.live} aria-label="Live tail">
      <header className={styles.head}>
        <Button
          variant={isRunning ? 'default' : 'filled'}
          leftSection={isRunning ? <IconPlayerPause size={15} aria-hidden /> : <IconPlayerPlay size={15} aria-hidden />}
          onClick={() => setRunning(!isRunning)}
        >
          {isRunning ? 'Pause' : 'Go on'}
        </Button>
        <span className={styles.state} data-running={isRunning && !isWaiting}>
          {isWaiting ? 'waiting for the store' : isRunning ? 'live' : 'paused'}
        </span>
        <span className="numeric">{formatRate(buffer.rate)} records/s</span>
        <span className={`numeric ${styles.faint}`}>
          {formatCount(buffer.seen)} seen
          {buffer.records.length === MAX_LIVE_RECORDS && `, the last ${formatShort(MAX_LIVE_RECORDS)} kept`}
          {buffer.skipped > 0 && `, ${formatCount(buffer.skipped)} came too fast to be shown`}
        </span>
        {buffer.records.length > 0 && (
          <Button variant="subtle" color="gray" onClick={clear} ml="auto">
            Clear
          </Button>
        )}
      </header>
      {error !== null && buffer.records.length === 0 ? (
        <ErrorPanel error={error} />
      ) : answeredMs > 0 && buffer.records.length === 0 ? (
        isWaiting ? (
          <EmptyState title="Waiting for the store">
            <p>Records show here once the store answers.</p>
          </EmptyState>
        ) : (
          <EmptyState title="Waiting for the next record">
            <p>
              {buffer.cleared === undefined && 'None matched in the last five minutes. '}It shows here within a second or two of its
              arrival.
            </p>
          </EmptyState>
        )
      ) : (
        <RecordTable
          label="Live records"
          records={buffer.records}
          columns={columns}
          marks={marks}
          wrap={wrap}
          withDay={false}
          openId={openId}
          onOpen={onOpen}
          fresh={buffer.seen === buffer.fresh ? 0 : buffer.fresh}
        />
      )}
    </section>
  )
}

const formatRate = (rate: number): string => (rate > 0 && rate < 10 ? rate.toFixed(1) : formatShort(Math.round(rate)))
