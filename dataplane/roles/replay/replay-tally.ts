/** The progress of a replay, and its words. */
import type { SendOutcome } from './collector-client.ts'

export interface ReplayTally {
  /** Records the collector accepted. */
  records: number
  requests: number
  partialSuccesses: number
  rejectedRecords: number
  retries: number
  /** Requests that were given up. */
  failedRequests: number
  failedRecords: number
  malformedLines: number
  unreadableFiles: number
}

export const emptyTally = (): ReplayTally => ({
  records: 0,
  requests: 0,
  partialSuccesses: 0,
  rejectedRecords: 0,
  retries: 0,
  failedRequests: 0,
  failedRecords: 0,
  malformedLines: 0,
  unreadableFiles: 0,
})

/** Counts one request; returns what the user should be told about it. */
export function countOutcome(tally: ReplayTally, records: number, outcome: SendOutcome): string | undefined {
  tally.requests += 1
  tally.retries += outcome.retries
  if (outcome.status === 'failed') {
    tally.failedRequests += 1
    tally.failedRecords += records
    return `${count(records, 'record')} not accepted: ${outcome.reason}`
  }
  const rejected = Math.min(records, outcome.rejected)
  tally.records += records - rejected
  tally.rejectedRecords += rejected
  if (rejected > 0) tally.partialSuccesses += 1
  if (rejected > 0) return `${rejected} of ${count(records, 'record')} rejected: ${outcome.message}`
  return outcome.message === '' ? undefined : `warning: ${outcome.message}`
}

export function isComplete(tally: ReplayTally): boolean {
  return tally.rejectedRecords + tally.failedRequests + tally.malformedLines + tally.unreadableFiles === 0
}

export function formatSummary(tally: ReplayTally, elapsedMs: number): string {
  const rows: readonly (readonly [string, string])[] = [
    ['records accepted', String(tally.records)],
    ['requests', String(tally.requests)],
    ['partial successes', `${tally.partialSuccesses} (${count(tally.rejectedRecords, 'record')} rejected)`],
    ['retries', String(tally.retries)],
    ['failed requests', `${tally.failedRequests} (${count(tally.failedRecords, 'record')})`],
    ['malformed lines', String(tally.malformedLines)],
    ['unreadable files', String(tally.unreadableFiles)],
    ['time', `${(elapsedMs / 1000).toFixed(1)} s`],
    ['rate', `${perSecond(tally.records, elapsedMs)} records/s`],
  ]
  return rows.map(([name, value]) => `${name.padEnd(18)} ${value}`).join('\n')
}

/** One line: how far it is, how much, how fast. `fraction` is undefined when the size of the input is unknown. */
export function formatProgress(tally: ReplayTally, elapsedMs: number, fraction: number | undefined): string {
  const width = 30
  const filled = Math.round(Math.min(1, fraction ?? 0) * width)
  const bar =
    fraction === undefined
      ? ''
      : `[${'='.repeat(filled).padEnd(width)}] ${String(Math.floor(Math.min(1, fraction) * 100)).padStart(3)}% read  `
  const troubles = tally.failedRequests + tally.malformedLines + tally.partialSuccesses + tally.unreadableFiles
  return (
    `${bar}${count(tally.records, 'record')}  ${perSecond(tally.records, elapsedMs)}/s` +
    `${tally.retries > 0 ? `  ${tally.retries} retries` : ''}${troubles > 0 ? `  ${troubles} problems` : ''}`
  )
}

function perSecond(records: number, elapsedMs: number): number {
  return Math.round(elapsedMs > 0 ? (records * 1000) / elapsedMs : 0)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
