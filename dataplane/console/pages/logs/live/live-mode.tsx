/** Records as they come, the newest on top. They hold still while one reads below, or has paused. */
import { Button } from '@mantine/core'
import { IconArrowUp, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { formatCount, formatShort } from '../../../components/format.ts'
import { useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { useIsStale, useReading } from '../../../components/states/stale.tsx'
import { EmptyState, ErrorPanel } from '../../../components/states/states.tsx'
import type { LogRecord } from '../records/log-record.ts'
import { RecordTable } from '../records/record-table.tsx'
import { type HeldTail, type LiveBuffer, MAX_LIVE_RECORDS, showTail } from './live-buffer.ts'
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

export function LiveMode({ live, ...table }: LiveModeProps) {
  const { buffer, isRunning, error, setRunning, answeredMs, missing } = live
  useReading({ answeredMs, everyMs: isRunning ? POLL_MS : undefined, error, missing })
  const isStale = useIsStale()
  const isWaiting = error !== null || (isRunning && (isStale || answeredMs === 0))
  const hold = useHold(buffer)
  useShortcut('p', 'Pause or go on', () => setRunning(!isRunning), { group: 'Logs' })
  return (
    <section className={styles.live} aria-label="Live tail">
      <LiveHead live={live} isWaiting={isWaiting} isHeld={hold.isHeld} />
      {buffer.records.length > 0 || (error === null && answeredMs === 0) ? (
        <Tail {...table} hold={hold} />
      ) : error !== null ? (
        <ErrorPanel error={error} />
      ) : (
        <NothingYet isWaiting={isWaiting} isCleared={buffer.cleared !== undefined} />
      )}
    </section>
  )
}

interface LiveHeadProps {
  readonly live: Live
  readonly isWaiting: boolean
  readonly isHeld: boolean
}

function LiveHead({ live, isWaiting, isHeld }: LiveHeadProps) {
  const { buffer, isRunning, setRunning, clear } = live
  return (
    <header className={styles.head}>
      <Button
        variant={isRunning ? 'default' : 'filled'}
        leftSection={isRunning ? <IconPlayerPause size={15} aria-hidden /> : <IconPlayerPlay size={15} aria-hidden />}
        onClick={() => setRunning(!isRunning)}
      >
        {isRunning ? 'Pause' : 'Go on'}
      </Button>
      <span className={styles.state} data-running={isRunning && !isWaiting && !isHeld}>
        {isWaiting ? 'waiting for the store' : isRunning ? (isHeld ? 'held while you read' : 'live') : 'paused'}
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
  )
}

function NothingYet({ isWaiting, isCleared }: { readonly isWaiting: boolean; readonly isCleared: boolean }) {
  if (isWaiting)
    return (
      <EmptyState title="Waiting for the store">
        <p>Records show here once the store answers.</p>
      </EmptyState>
    )
  return (
    <EmptyState title="Waiting for the next record">
      <p>{!isCleared && 'None matched in the last five minutes. '}It shows here within a second or two of its arrival.</p>
    </EmptyState>
  )
}

interface TailProps extends Omit<LiveModeProps, 'live'> {
  readonly hold: ReturnType<typeof useHold>
}

function Tail({ hold, ...table }: TailProps) {
  const { shown, isHeld, scroller, onScroll, toTop } = hold
  return (
    <div className={styles.tail}>
      {isHeld && (
        <Button className={styles.newer} radius="xl" leftSection={<IconArrowUp size={15} aria-hidden />} onClick={toTop}>
          {shown.newer > 0 ? `${formatCount(shown.newer)} newer` : 'Newest'}
        </Button>
      )}
      <RecordTable
        {...table}
        label="Live records"
        records={shown.records}
        scroller={scroller}
        onScroll={onScroll}
        withDay={false}
        fresh={shown.fresh}
      />
    </div>
  )
}

/** One is at the top while less than this is scrolled away, px. */
const TOP_PX = 8

function useHold(buffer: LiveBuffer) {
  const [held, setHeld] = useState<HeldTail>()
  const scroller = useRef<HTMLDivElement>(null)
  const isEmpty = buffer.records.length === 0
  useEffect(() => {
    if (isEmpty) setHeld(undefined)
  }, [isEmpty])
  const onScroll = () => {
    const isAway = (scroller.current?.scrollTop ?? 0) > TOP_PX
    setHeld(before => (isAway ? (before ?? buffer) : undefined))
  }
  const toTop = () => {
    scroller.current?.scrollTo({ top: 0 })
    scroller.current?.focus()
    setHeld(undefined)
  }
  return { shown: showTail(buffer, held), isHeld: held !== undefined && !isEmpty, scroller, onScroll, toTop }
}

const formatRate = (rate: number): string => (rate > 0 && rate < 10 ? rate.toFixed(1) : formatShort(Math.round(rate)))
