/** The body of a request that triggers a run through Airflow's API. */
import { z } from 'zod'
import { isFullHour, type ManualRunRequest, RUN_ID_PATTERN } from '../../../domain/features/feature-run.ts'
import { HttpError } from '../../../http/http-error.ts'
import { TimeField } from './time-field.ts'

const TIME = TimeField.nullish()
/** Characters of `conf` as JSON. A list of runs tells those of a hundred. */
const MAX_CONF = 16_384
/** Characters, as in Airflow. */
const MAX_NOTE = 1_000

export const TriggerRequest = z
  .strictObject({
    dag_run_id: z.string().regex(RUN_ID_PATTERN, 'expected 1 to 250 of letters, digits and _.~:+-').nullish(),
    logical_date: TIME,
    /** Airflow 2's former name of `logical_date`. */
    execution_date: TIME,
    data_interval_start: TIME,
    data_interval_end: TIME,
    /** Taken without effect: every run starts at once. */
    run_after: TIME,
    conf: z
      .record(z.string(), z.unknown())
      .refine(conf => JSON.stringify(conf).length <= MAX_CONF, `expected at most ${MAX_CONF} characters of JSON`)
      .nullish(),
    note: z.string().max(MAX_NOTE).nullish(),
  })
  .optional()
export type TriggerRequest = z.output<typeof TriggerRequest>

/** Throws `HttpError` 400 for times that make no full hour, or one that is not over. */
export function parseTrigger(body: TriggerRequest, nowMs: number): ManualRunRequest {
  const logicalMs = body?.logical_date ?? body?.execution_date ?? undefined
  if (logicalMs !== undefined && logicalMs > nowMs)
    throw new HttpError(400, `logical_date: expected a time that is not in the future, seen ${iso(logicalMs)}`)
  const hourMs = parseInterval(body?.data_interval_start ?? undefined, body?.data_interval_end ?? undefined, nowMs)
  return { id: body?.dag_run_id ?? undefined, logicalMs, hourMs, conf: body?.conf ?? {}, note: body?.note ?? null }
}

function parseInterval(startMs: number | undefined, endMs: number | undefined, nowMs: number): number | undefined {
  if (startMs === undefined && endMs === undefined) return undefined
  if (startMs === undefined || endMs === undefined)
    throw new HttpError(400, 'data_interval_start, data_interval_end: expected both or none, seen one')
  if (!isFullHour(startMs, endMs))
    throw new HttpError(400, `data_interval_start, data_interval_end: expected one full hour in UTC, seen ${iso(startMs)} to ${iso(endMs)}`)
  if (endMs > nowMs) throw new HttpError(400, `data_interval_end: expected an hour that is over, seen ${iso(endMs)}`)
  return startMs
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
