/** Records as they come, the newest on top; pause holds them still. */
import { Button } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { formatCount, formatShort } from '../../../components/format.ts'
import { EmptyState, ErrorPanel } from '../../../components/states.tsx'
import { useShortcut } from '../../../components/use-shortcut.ts'
import type { LogRecord } from '../records/log-record.ts'
import { RecordTable } from '../records/record-table.tsx'
import { MAX_LIVE_RECORDS } from './live-buffer.ts'
import styles from './live-mode.module.css'
import type { Live } from './use-live.ts'

export interface LiveModeProps {
  readonly live: Live
  readonly columns: readonly string[]
  readonly marks: RegExp | undefined
  readonly wrap: boolean
  readonly openId: string | undefined
  readonly onOpen: (record: LogRecord) => void
}

export function LiveMode({ live, columns, marks, wrap, openId, onOpen }: LiveModeProps) {
  const { buffer, isRunning, error, setRunning, clear, hasAnswer } = live
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
        <span className={styles.state} data-running={isRunning && error === null}>
          {error !== null ? 'waiting for the store' : isRunning ? 'live' : 'paused'}
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
      ) : hasAnswer && buffer.records.length === 0 ? (
        <EmptyState title="Waiting for the next record">
          <p>
            {buffer.cleared === undefined && 'None matched in the last five minutes. '}It shows here within a second or two of its arrival.
          </p>
        </EmptyState>
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
