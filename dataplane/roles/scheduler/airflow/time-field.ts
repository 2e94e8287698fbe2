import { z } from 'zod'
import { parseEventTime } from '../../../domain/time/event-time.ts'

/** A time in what a caller of Airflow's API says, as milliseconds. */
export const TimeField = z.string().transform((text, context) => {
  const atMs = parseEventTime(text)
  if (atMs !== undefined) return atMs
  context.addIssue({ code: 'custom', message: 'expected a time such as 2026-01-31T12:00:00Z', input: text })
  return z.NEVER
})
