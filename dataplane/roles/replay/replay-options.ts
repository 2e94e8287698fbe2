/** The command line of `logpipeline replay`. */
import { readHttpAddress, readInteger, readNumber } from '../../command-line/option-values.ts'
import { parseWords, type Words } from '../../command-line/words.ts'

export const REPLAY_USAGE = `Usage: logpipeline replay [options] FILE...

Sends files of OTLP JSON lines (one ExportLogsServiceRequest a line, plain or gzip) to a collector. FILE may be - for stdin.

  --endpoint URL    collector to send to (default: COLLECTOR_ENDPOINT, else port OTLP_HTTP_PORT of this machine, 4318)
  --rate N          at most N records per second (default: as fast as the collector takes them)
  --concurrency N   requests in flight, 1 to 256 (default 4)
  --header K=V      request header, may be repeated
  --retries N       attempts after the first for a request answered 429, 502, 503, 504 or not at all (default 8)
  --shift-to-now    move all times so that the newest record of all files is now; distances are kept to the nanosecond
  --help            show this text

Exit code: 0 everything was accepted, 1 something was not, 64 the command line is wrong, 130 interrupted.`

export interface ReplayConfig {
  readonly files: readonly string[]
  /** Where requests go, path included. */
  readonly url: URL
  /** Records per second; Infinity when unlimited. */
  readonly rate: number
  readonly concurrency: number
  readonly headers: Readonly<Record<string, string>>
  readonly retries: number
  readonly shiftToNow: boolean
}

const OPTIONS = {
  endpoint: { type: 'string' },
  rate: { type: 'string' },
  concurrency: { type: 'string', default: '4' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  retries: { type: 'string', default: '8' },
  'shift-to-now': { type: 'boolean', default: false },
} as const

/** `collector` is asked for the address where none is given. */
export function parseReplayOptions(args: readonly string[], collector: () => string): Words<ReplayConfig> {
  return parseWords(args, { options: OPTIONS, allowPositionals: true }, ({ values, positionals: files }, problems) => {
    const config: ReplayConfig = {
      files,
      url: readUrl(values.endpoint ?? collector(), problems),
      rate: values.rate === undefined ? Number.POSITIVE_INFINITY : readNumber('--rate', values.rate, { min: 0.001, max: 1e9 }, problems),
      concurrency: readInteger('--concurrency', values.concurrency, { min: 1, max: 256 }, problems),
      headers: readHeaders(values.header, problems),
      retries: readInteger('--retries', values.retries, { min: 0, max: 1000 }, problems),
      shiftToNow: values['shift-to-now'],
    }
    if (files.length === 0) problems.push('FILE: at least one is needed, or - for stdin')
    if (config.shiftToNow && files.includes('-')) problems.push('--shift-to-now reads its input twice: give files, not -')
    return config
  })
}

/** The endpoint is a base address, as for OpenTelemetry exporters; an address that names `/v1/logs` itself is taken as it is. */
function readUrl(text: string, problems: string[]): URL {
  const url = readHttpAddress('--endpoint', text, problems)
  if (!url.pathname.endsWith('/v1/logs')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/logs`
  return url
}

function readHeaders(pairs: readonly string[], problems: string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const pair of pairs) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\t\x20-\x7e]*)$/.exec(pair) ?? []
    if (name === undefined || value === undefined) problems.push(`--header: expected NAME=VALUE, seen ${JSON.stringify(pair)}`)
    else headers[name.toLowerCase()] = value
  }
  return headers
}
