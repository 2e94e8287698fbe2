/** Whether the page shows old answers, or such that lack a part: looked at each second for all of the page, told in one notice, known to all parts. */
import { IconClockExclamation, IconPlugConnectedX, IconPuzzleOff } from '@tabler/icons-react'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { missingOf } from '../../api/note-missing.ts'
import { useLink } from '../../url-state/links.ts'
import { useClockOffset } from '../time/use-clock-offset.ts'
import { findStale, type Reading, type Stale, sayAge, sayMissing } from './find-stale.ts'
import styles from './states.module.css'
import { LogIn } from './states.tsx'
import { TenantNotice } from './tenant-notice.tsx'

const LOOK_MS = 1_000

type Shown = Stale & { readonly age: string }

type OwnReadings = Set<() => Reading>

const StaleContext = createContext<Shown | undefined>(undefined)
const MissingContext = createContext<string | undefined>(undefined)
const OwnReadingsContext = createContext<OwnReadings>(new Set())

/** Old answers are on the page: nothing on it may be said to be well. */
export function useIsStale(): boolean {
  return useContext(StaleContext) !== undefined
}

/** Tells of a reading that the cache of queries does not hold, while the caller is on the page. */
export function useReading(reading: Reading): void {
  const own = useContext(OwnReadingsContext)
  const latest = useRef(reading)
  latest.current = reading
  useEffect(() => {
    const read = () => latest.current
    own.add(read)
    return () => void own.delete(read)
  }, [own])
}

export function StaleProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient()
  const [own] = useState<OwnReadings>(() => new Set())
  const [stale, setStale] = useState<Shown>()
  const [missing, setMissing] = useState<string>()
  useEffect(() => {
    const look = () => {
      const nowMs = Date.now()
      const readings = [...client.getQueryCache().getAll().flatMap(readingOf), ...[...own].map(read => read())]
      setMissing(sayMissing(readings))
      const found = findStale(readings, nowMs)
      const next = found && { ...found, age: sayAge(nowMs - found.answeredMs) }
      setStale(before => (before?.age === next?.age && before?.reason === next?.reason ? before : next))
    }
    look()
    const timer = setInterval(look, LOOK_MS)
    const stop = client.getQueryCache().subscribe(({ type }) => type === 'updated' && look())
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [client, own])
  return (
    <OwnReadingsContext value={own}>
      <MissingContext value={missing}>
        <StaleContext value={stale}>{children}</StaleContext>
      </MissingContext>
    </OwnReadingsContext>
  )
}

/** Notices that hold for all of the page. */
export function Notices() {
  return (
    <div className={styles.notices}>
      <StaleNotice />
      <TenantNotice />
      <MissingNotice />
      <ClockNotice />
    </div>
  )
}

function StaleNotice() {
  const stale = useContext(StaleContext)
  if (stale === undefined) return null
  return (
    <div className={styles.stale}>
      <IconPlugConnectedX size={18} aria-hidden />
      <p>
        <strong role="alert">Stale: what this page shows is old.</strong> <span className="numeric">Last answer {stale.age} ago.</span>{' '}
        {stale.reason ?? 'A request waits for its answer.'} {stale.needsLogin && <LogIn />}
      </p>
    </div>
  )
}

function MissingNotice() {
  const missing = useContext(MissingContext)
  const link = useLink()
  if (missing === undefined) return null
  return (
    <div className={styles.stale}>
      <IconPuzzleOff size={18} aria-hidden />
      <p>
        <strong role="alert">Incomplete: lists and counts of this page lack records.</strong> {missing}{' '}
        <Link href={link('/status')}>Open Health</Link>
      </p>
    </div>
  )
}

/** Clocks that differ by less are no news. */
const CLOCK_TO_MENTION_MS = 60_000

function ClockNotice() {
  const offsetMs = useClockOffset()
  if (Math.abs(offsetMs) < CLOCK_TO_MENTION_MS) return null
  return (
    <div className={styles.stale}>
      <IconClockExclamation size={18} aria-hidden />
      <p>
        The clock of this computer is {sayAge(Math.round(Math.abs(offsetMs) / 60_000) * 60_000)} {offsetMs > 0 ? 'behind' : 'ahead of'} the
        server's. The console goes by the server's.
      </p>
    </div>
  )
}

/** Nothing of queries that no part of the page looks at. */
function readingOf(query: Query): readonly Reading[] {
  const { state, observers } = query
  const intervals = observers.map(({ options }) => options.refetchInterval).filter(interval => typeof interval === 'number')
  if (observers.length === 0) return []
  const everyMs = intervals.length === 0 ? undefined : Math.min(...intervals)
  return [{ answeredMs: state.dataUpdatedAt, everyMs, error: state.error ?? state.fetchFailureReason, missing: missingOf(query) }]
}
