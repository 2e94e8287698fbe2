/** `logpipeline bus groups list|remove`: who reads the embedded bus, and a reader that is no more (`adapters/bus/embedded/README.md`). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddedBus } from '../../adapters/bus/embedded/embedded-bus.ts'
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { obey, parseWords } from '../../command-line/words.ts'
import { loadSomeSettings } from '../../config/environment.ts'
import { BusError } from '../../ports/bus.ts'
import { DirectoryInUse } from '../../process/directory-lock.ts'
import { SILENT } from '../../telemetry/log.ts'
import { BUS_SETTINGS, openEmbedded } from '../backends.ts'

const USAGE = `Usage: logpipeline bus groups list
       logpipeline bus groups remove GROUP

list shows the consumer groups of the embedded bus in DATA_DIR: when each was last seen, and how much of which topic it has still to read.
The bus keeps what a group has not read for as long as the topic keeps records, and takes no more when it is full of that. remove forgets a
group that will not come back, such as one of an older version, and with it how far it had read.

The bus must not be in use, so stop logpipeline first; nothing is lost by that. Groups on Kafka: kafka-consumer-groups.sh.
Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

const refuse = refusalsOf('bus groups')

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export function runBusGroups(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  const words = parseWords(args, { options: {}, allowPositionals: true }, ({ positionals }, problems) => readAction(positionals, problems))
  return obey(words, { usage: USAGE, refuse }, deps, group => work(group, deps))
}

/** Lists the groups, or removes one. */
async function work(group: string | undefined, deps: CommandDeps): Promise<number> {
  const settings = loadSomeSettings('bridge', BUS_SETTINGS, deps.environment)
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
      return group === undefined ? list(bus, deps) : await remove(bus, group, deps)
    } finally {
      await bus.stop()
    }
  } catch (error) {
    if (error instanceof DirectoryInUse || error instanceof BusError) return refuse(deps, error.message, EXIT.failed)
    throw error
  }
}

/** The group to remove; undefined: list them all. */
function readAction(words: readonly string[], problems: string[]): string | undefined {
  const [action, group, ...rest] = words
  const isList = action === 'list' && group === undefined
  const isRemoval = action === 'remove' && group !== undefined && rest.length === 0
  if (!isList && !isRemoval) problems.push(`expected list, or remove and a group, seen ${JSON.stringify(words.join(' '))}`)
  return group
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
