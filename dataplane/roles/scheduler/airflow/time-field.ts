import { z } from 'zod'
import { parseEventTime } from '../../../domain/time/event-time.ts'

/** Reads a time in a request to Airflow's API, as milliseconds since the epoch. */
export const TimeField = z.string().transform((text, context) => {
  const atMs = parseEventTime(text)
  if (atMs !== undefined) return atMs
  context.addIssue({ code: 'custom', message: 'expected a time such as 2026-01-31T12:00:00Z', input: text })
  return z.NEVER
})
