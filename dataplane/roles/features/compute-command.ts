/** `logpipeline features compute`: computes the features of one hour now (Decisions 2). */
import { existsSync } from 'node:fs'
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { obey, parseWords } from '../../command-line/words.ts'
import { loadSetting, loadSomeSettings } from '../../config/environment.ts'
import type { SettingsOf } from '../../contract/env.ts'
import { HOUR_MS, hourOf, lastFullHour } from '../../domain/features/feature-hour.ts'
import { parseEventTime } from '../../domain/time/event-time.ts'
import { computeHour } from '../../pipeline/features/compute-features.ts'
import { OnlineStoreUnavailable } from '../../ports/online-store.ts'
import { SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { connectSearchStore, ONLINE_STORE_SETTINGS, openOnlineStore, SEARCH_STORE_SETTINGS } from '../backends.ts'
import { runningSearchAddress } from '../search-address-file.ts'

const USAGE = `Usage: logpipeline features compute [--hour TIME]

Computes the ML features of every service over one full hour, from the logs and anomalies of the search store, and writes them to the online
store. Doing it again does no harm; features of a later time stay. Prints what was done as one line of JSON.

  --hour TIME   the UTC hour that begins at this time, such as 2026-01-31T12:00:00Z (default: the last full hour)

Settings: SEARCH_ENDPOINT (default: the standalone that runs on DATA_DIR, else http://127.0.0.1:9200), ONLINE_STORE_URL (default: the embedded
store in DATA_DIR).
Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

const SETTINGS = [...ONLINE_STORE_SETTINGS, ...SEARCH_STORE_SETTINGS] as const
type Settings = Pick<SettingsOf<'scheduler'>, (typeof SETTINGS)[number]>

const refuse = refusalsOf('features compute')

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export function runFeaturesCompute(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  const nowMs = deps.clock.nowMs()
  const words = parseWords(args, { options: { hour: { type: 'string' } } }, ({ values }, problems) =>
    readHour(values.hour, nowMs, problems),
  )
  return obey(words, { usage: USAGE, refuse }, deps, hourMs => compute(hourMs, deps))
}

async function compute(hourMs: number, deps: CommandDeps): Promise<number> {
  const settings = loadSomeSettings('scheduler', SETTINGS, deps.environment)
  if (settings.ONLINE_STORE_URL === undefined && !existsSync(settings.DATA_DIR))
    return refuse(deps, `DATA_DIR: expected a directory that logpipeline has worked in, seen ${settings.DATA_DIR}`, EXIT.failed)
  const search = await connectSearchStore({ ...settings, SEARCH_ENDPOINT: endpointOf(settings, deps.environment) })
  const online = await openOnlineStore(settings)
  const log = createLogger({ level: 'warn', format: 'json', fields: { role: 'features' } })
  try {
    const result = await computeHour({ search, online, clock: deps.clock, log }, hourMs)
    deps.stdout.write(`${JSON.stringify({ hour: new Date(hourMs).toISOString(), ...result })}\n`)
    return EXIT.done
  } catch (error) {
    if (error instanceof SearchStoreUnavailable || error instanceof OnlineStoreUnavailable) return refuse(deps, error.message, EXIT.failed)
    throw error
  } finally {
    await Promise.all([search.close(), online.close()])
  }
}

/** The store that the settings name, else that of the standalone that works in `DATA_DIR`, else the default. */
function endpointOf({ SEARCH_ENDPOINT, DATA_DIR }: Settings, environment: CommandDeps['environment']): string {
  const isNamed = loadSetting('standalone', 'SEARCH_ENDPOINT', environment) !== undefined
  return (isNamed ? undefined : runningSearchAddress(DATA_DIR)) ?? SEARCH_ENDPOINT
}

/** The start of the hour to compute, ms since the epoch. */
function readHour(text: string | undefined, nowMs: number, problems: string[]): number {
  if (text === undefined) return lastFullHour(nowMs)
  const hourMs = parseEventTime(text) ?? Number.NaN
  if (hourMs !== hourOf(hourMs))
    problems.push(`--hour: expected the start of an hour in UTC such as 2026-01-31T12:00:00Z, seen ${JSON.stringify(text)}`)
  else if (hourMs + HOUR_MS > nowMs) problems.push(`--hour: expected an hour that is over, seen ${text}`)
  return hourMs
}
