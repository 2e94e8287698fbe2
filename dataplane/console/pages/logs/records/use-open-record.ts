/** The record that stands open beside the others. */
import { useCallback, useEffect, useState } from 'react'
import { useRecord } from '../use-logs.ts'
import type { LogRecord } from './log-record.ts'

export type OpenRecord = ReturnType<typeof useOpenRecord>

/** `inUrl` is the id in the URL, which `write` changes; `records` are those on the page, which need not be read. */
export function useOpenRecord(inUrl: string | undefined, write: (id: string | undefined) => void, records: readonly LogRecord[]) {
  const [id, setId] = useIdInUrl(inUrl, write)
  const [opened, setOpened] = useState<LogRecord>()
  const found = useRecord(id, opened?.id === id && opened !== undefined ? [opened] : records)
  const open = useCallback(
    (record: LogRecord) => {
      setOpened(record)
      setId(record.id)
    },
    [setId],
  )
  const close = useCallback(() => setId(undefined), [setId])
  return { id, open, close, ...found }
}

/** One walks through records faster than a browser takes new URLs: the URL follows when one stays. */
const FOLLOW_MS = 250

function useIdInUrl(inUrl: string | undefined, write: (id: string | undefined) => void) {
  const [id, setId] = useState(inUrl)
  useEffect(() => setId(inUrl), [inUrl])
  // biome-ignore lint/correctness/useExhaustiveDependencies: `write` differs at each render and does the same
  useEffect(() => {
    if (id === inUrl) return
    const timer = setTimeout(() => write(id), FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [id])
  return [id, setId] as const
}
