import { QUOTE } from '../../../../json/bytes.ts'
import { scanTimestamp } from './scan-timestamp.ts'

const OPEN = Buffer.from('{"timestamp":"')
/** Longest text that `scanTimestamp` reads. */
const MAX_LENGTH = 30

/** The time of a document that begins with its `timestamp`, ms, as the date field has it; NaN for any other document, and for an unusual time. */
export function leadingTimestamp(bytes: Uint8Array, start: number, end: number): number {
  for (let k = 0; k < OPEN.length; k++) if (bytes[start + k] !== OPEN[k]) return Number.NaN
  const from = start + OPEN.length
  const last = Math.min(end, from + MAX_LENGTH + 1)
  for (let at = from; at < last; at++) if (bytes[at] === QUOTE) return scanTimestamp(bytes, from, at)
  return Number.NaN
}
