/** The command line of `logpipeline dlq`. */
import { readChoice, readInteger } from '../../command-line/option-values.ts'
import { parseWords, type Words } from '../../command-line/words.ts'
import { TENANT_ID } from '../../contract/setting.ts'
import { parseDuration } from '../../domain/time/duration.ts'
import { DEAD_LETTER_STAGES } from '../../pipeline/dead-letters/dead-letter.ts'
import type { LetterFilter } from '../../pipeline/dead-letters/letter.ts'

export const DLQ_USAGE = `Usage: logpipeline dlq list|replay|purge [options]

list shows dead letters, oldest first. replay sends their original bytes back to the topic they were read from, so that the step
that gave them up sees them again: what the ETL could not read to raw-logs, flat records to enriched-logs, anomalies to anomaly-events.
Letters stay in the queue until its retention ends. Replaying one twice changes nothing: what was stored keeps its id, and the same
bytes are sent once, however often they lie in the queue. What fails again lies there again, and says when it was replayed.
purge deletes all letters, for good.

Which letters list and replay; all that are given must hold:
  --tenant T      of this tenant
  --stage S       given up by this step: ${DEAD_LETTER_STAGES.join(', ')}
  --reason TEXT   whose reason contains TEXT
  --topic NAME    read from this topic
  --since TIME    given up at TIME or later: ISO-8601, or how long ago, such as 90m or 2d
  --until TIME    given up before TIME
  --limit N       at most N, the oldest (default: list 100, replay all)

  --json          list: one JSON object a line, with the original bytes
  --dry-run       replay, purge: say what would be done, do nothing
  --help          show this text

The bus is that of BUS_BROKERS, else the embedded one in DATA_DIR: where a standalone runs on it the command goes through that one,
by a socket in DATA_DIR (also in a container: kubectl exec POD -- logpipeline dlq list), else it reads the files itself.
Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

type Action = 'list' | 'replay' | 'purge'

export interface DlqConfig {
  readonly action: Action
  readonly filter: LetterFilter
  /** Infinity: all. */
  readonly limit: number
  readonly json: boolean
  readonly dryRun: boolean
}

const DEFAULT_LIMIT = { list: 100, replay: Number.POSITIVE_INFINITY, purge: Number.POSITIVE_INFINITY } as const
const MAX_LIMIT = 999_999_999
const FILTERS = ['tenant', 'stage', 'reason', 'topic', 'since', 'until', 'limit'] as const

const OPTIONS = {
  tenant: { type: 'string' },
  stage: { type: 'string' },
  reason: { type: 'string' },
  topic: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const

export function parseDlqOptions(args: readonly string[], nowMs: number): Words<DlqConfig> {
  return parseWords(args, { options: OPTIONS, allowPositionals: true }, ({ values, positionals }, problems) => {
    const action = readAction(positionals, problems)
    if (values.json && action !== 'list') problems.push('--json: goes with list alone')
    if (values['dry-run'] && action === 'list') problems.push('--dry-run: goes with replay and purge')
    if (action === 'purge')
      for (const option of FILTERS)
        if (values[option] !== undefined) problems.push(`--${option}: goes with list and replay; purge takes all letters`)
    if (values.tenant !== undefined && !TENANT_ID.schema.safeParse(values.tenant).success)
      problems.push(`--tenant: expected ${TENANT_ID.expected}, seen ${JSON.stringify(values.tenant)}`)
    const { tenant, reason, topic, limit } = values
    const stage = values.stage === undefined ? undefined : readChoice('--stage', values.stage, DEAD_LETTER_STAGES, problems)
    const sinceMs = readTime('--since', values.since, nowMs, problems)
    const untilMs = readTime('--until', values.until, nowMs, problems)
    return {
      action,
      filter: { tenant, stage, reason, topic, sinceMs, untilMs },
      limit: limit === undefined ? DEFAULT_LIMIT[action] : readInteger('--limit', limit, { min: 1, max: MAX_LIMIT }, problems),
      json: values.json,
      dryRun: values['dry-run'],
    }
  })
}

function readAction(positionals: readonly string[], problems: string[]): Action {
  const [action, ...rest] = positionals
  if (rest.length === 0 && (action === 'list' || action === 'replay' || action === 'purge')) return action
  problems.push(`expected list, replay or purge, seen ${positionals.length === 0 ? 'nothing' : JSON.stringify(positionals.join(' '))}`)
  return 'list'
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

function readTime(option: string, text: string | undefined, nowMs: number, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const ageMs = parseDuration(text)
  const timeMs = ageMs === undefined ? (ISO_TIME.test(text) ? Date.parse(text) : Number.NaN) : nowMs - ageMs
  if (Number.isFinite(timeMs)) return timeMs
  problems.push(`${option}: expected a time such as 2026-11-21T10:00:00Z or how long ago, such as 90m, seen ${JSON.stringify(text)}`)
  return undefined
}
