/** `logpipeline bus groups list|remove`: who reads the embedded bus, and a reader that is no more (`adapters/bus/embedded/README.md`). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { EmbeddedBus } from '../../adapters/bus/embedded/embedded-bus.ts'
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { loadSettings } from '../../config/environment.ts'
import { DirectoryInUse } from '../../lifecycle/directory-lock.ts'
import { BusError } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { openEmbedded } from '../backends.ts'

const USAGE = `Usage: logpipeline bus groups list
       logpipeline bus groups remove GROUP

list shows the consumer groups of the embedded bus in DATA_DIR: when each was last seen, and how much of which topic it has still to read.
The bus keeps what a group has not read for as long as the topic keeps records, and takes no more when it is full of that. remove forgets a
group that will not come back, such as one of an older version, and with it how far it had read.

The bus must not be in use, so stop logpipeline first; nothing is lost by that. Groups on Kafka: kafka-consumer-groups.sh.
Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

const refuse = refusalsOf('bus groups')

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export async function runBusGroups(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  const wanted = parseWords(args)
  if (typeof wanted === 'string') return refuse(deps, wanted, EXIT.usage)
  if ('help' in wanted) {
    deps.stdout.write(`${USAGE}\n`)
    return EXIT.done
  }
  const settings = loadSettings('bridge', deps.environment)
  if (settings.BUS_BROKERS !== undefined)
    return refuse(
      deps,
      `BUS_BROKERS: expected none, seen ${settings.BUS_BROKERS}: Kafka has kafka-consumer-groups.sh for this`,
      EXIT.failed,
    )
  if (!existsSync(join(settings.DATA_DIR, 'bus')))
    return refuse(deps, `DATA_DIR: expected a directory that logpipeline has worked in, seen ${settings.DATA_DIR}`, EXIT.failed)
  try {
    const bus = await openEmbedded(settings, deps.clock, SILENT)
    try {
      return wanted.remove === undefined ? list(bus, deps) : await remove(bus, wanted.remove, deps)
    } finally {
      await bus.stop()
    }
  } catch (error) {
    if (error instanceof DirectoryInUse || error instanceof BusError) return refuse(deps, error.message, EXIT.failed)
    throw error
  }
}

/** A text is the problem with them. */
function parseWords(args: readonly string[]): { readonly help: true } | { readonly remove: string | undefined } | string {
  let parsed: { readonly values: { readonly help?: boolean }; readonly positionals: readonly string[] }
  try {
    parsed = parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } }, allowPositionals: true })
  } catch (error) {
    return (error as Error).message
  }
  const [action, group, ...rest] = parsed.positionals
  if (parsed.values.help === true) return { help: true }
  if (action === 'list' && group === undefined) return { remove: undefined }
  if (action === 'remove' && group !== undefined && rest.length === 0) return { remove: group }
  return `expected list, or remove and a group, seen ${JSON.stringify(parsed.positionals.join(' '))}`
}

function list(bus: EmbeddedBus, { stdout }: CommandDeps): number {
  for (const { groupId, lastSeenMs, unread } of bus.groups()) {
    const left = [...unread].map(([topic, bytes]) => `${topic} ${bytes}`).join(', ')
    stdout.write(`${groupId}  seen ${new Date(lastSeenMs).toISOString()}  bytes to read: ${left}\n`)
  }
  return EXIT.done
}

async function remove(bus: EmbeddedBus, groupId: string, deps: CommandDeps): Promise<number> {
  const known = bus.groups().map(group => group.groupId)
  if (!known.includes(groupId)) return refuse(deps, `group ${groupId} does not exist; there are ${known.join(', ')}`, EXIT.failed)
  await bus.removeGroup(groupId)
  deps.stdout.write(`removed ${groupId}\n`)
  return EXIT.done
}
