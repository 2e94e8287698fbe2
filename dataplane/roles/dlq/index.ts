/** `logpipeline dlq list|replay|purge`: shows dead letters, sends them through the pipeline again, deletes them (Decisions 2, 8). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { EXIT, refusalsOf } from '../../command-line/command.ts'
import { askStandalone, StandaloneUnreachable } from '../../command-socket/ask-standalone.ts'
import { type Environment, loadSomeSettings } from '../../config/environment.ts'
import { type Bus, BusError } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { DirectoryInUse } from '../../process/directory-lock.ts'
import { SILENT } from '../../telemetry/log.ts'
import { BUS_SETTINGS, type BusSettings, openBus } from '../backends.ts'
import { DLQ_USAGE, parseDlqOptions } from './dlq-options.ts'
import type { Print } from './print-lines.ts'
import { runOnBus } from './run-on-bus.ts'

/** A person at a terminal learns soon that nobody answers; a group takes the time that it needs. */
const KAFKA = { startTimeoutMs: 5_000, joinTimeoutMs: 30_000 } as const

export interface DlqDeps {
  /** Takes letters and the summary of a replay. */
  readonly print: Print
  /** Takes problems, and what is said about a listing. */
  readonly stderr: { write(text: string): unknown }
  readonly clock: Clock
  /** Default: that of the process. */
  readonly environment?: Environment
}

const PROCESS: DlqDeps = {
  print: text => new Promise(resolve => process.stdout.write(text, error => resolve(!error))),
  stderr: process.stderr,
  clock: systemClock,
}

const refuse = refusalsOf('dlq')

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export async function runDlq(args: readonly string[], deps: DlqDeps = PROCESS): Promise<number> {
  const parsed = parseDlqOptions(args, deps.clock.nowMs())
  if ('help' in parsed) {
    await deps.print(`${DLQ_USAGE}\n`)
    return EXIT.done
  }
  if ('problems' in parsed) return refuse(deps, parsed.problems, EXIT.usage)
  const settings = loadSomeSettings('bridge', BUS_SETTINGS, deps.environment)
  try {
    const asked = settings.BUS_BROKERS === undefined ? await askStandalone(settings.DATA_DIR, { command: 'dlq', args }, deps) : undefined
    return asked ?? (await onBus(settings, deps, bus => runOnBus(parsed.config, { bus, settings, ...deps })))
  } catch (error) {
    if (error instanceof DirectoryInUse)
      return refuse(deps, `${error.message}. Stopping logpipeline loses nothing; start it again when this command is done.`, EXIT.failed)
    if (error instanceof StandaloneUnreachable) return refuse(deps, error.message, EXIT.failed)
    if (error instanceof BusError)
      return refuse(deps, `${placeOf(settings)}: the message bus failed (${error.reason}): ${error.message}`, EXIT.failed)
    throw error
  }
}

/** The setting that names the bus, and what it says. */
function placeOf({ BUS_BROKERS, DATA_DIR }: BusSettings): string {
  return BUS_BROKERS === undefined ? `DATA_DIR ${DATA_DIR}` : `BUS_BROKERS ${BUS_BROKERS}`
}

/** Asking an empty place for letters must not make a bus there. */
async function onBus(settings: BusSettings, deps: DlqDeps, use: (bus: Bus) => Promise<void>): Promise<number> {
  if (settings.BUS_BROKERS === undefined && !existsSync(join(settings.DATA_DIR, 'bus')))
    return refuse(deps, `DATA_DIR: expected a directory that logpipeline has worked in, seen ${settings.DATA_DIR}`, EXIT.failed)
  const bus = await openBus(settings, deps.clock, SILENT, KAFKA)
  try {
    await use(bus)
    return EXIT.done
  } finally {
    await bus.stop()
  }
}
