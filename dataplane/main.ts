/** The program: role or command by its argument, settings from the environment, run until a signal. The only place that exits. */
import { systemClock } from './adapters/clock/system-clock.ts'
import { ConfigError, describeSettings, loadSettings } from './config/environment.ts'
import { findMisspelt, settingsOfOtherRoles } from './config/misspelt.ts'
import { roleUsage, usage } from './config/usage.ts'
import { version } from './config/version.ts'
import type { SettingsOf } from './contract/env.ts'
import { isRoleName, ROLE_NAMES, type RoleName } from './contract/roles.ts'
import { giveBackGarbage } from './memory/give-back-garbage.ts'
import { describeProblem } from './process/describe-problem.ts'
import { runUntilSignal } from './process/run-until-signal.ts'
import { COMMAND_RUNNERS, ROLE_LOADERS } from './roles/index.ts'
import type { Log } from './telemetry/log.ts'

/** Usage and configuration as in sysexits(3). */
const EXIT = { ok: 0, failure: 1, usage: 64, config: 78 } as const

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) return refuse('expected a role or a command')
  if (name === '--help' || name === '-h' || name === 'help') return print(usage())
  if (name === '--version' || name === '-v') return print(`${version}\n`)
  if (name === 'config' && args.at(-1) !== '--help') return checkConfig(args)
  const command = `${name} ${args[0]}`
  if (Object.hasOwn(COMMAND_RUNNERS, command)) return runCommand(command as CommandName, args.slice(1))
  if (Object.hasOwn(COMMAND_RUNNERS, name)) return runCommand(name as CommandName, args)
  const { role, rest } = takeRole([name, ...args])
  // Halves of names, and a command that has no help of its own.
  if (role === undefined && ['bus', 'config', 'stream'].includes(name) && args.at(-1) === '--help') return print(usage())
  const seconds = secondWordsOf(name)
  if (role === undefined && seconds.length > 0)
    return refuse(`${name}: expected ${seconds.length > 1 ? 'one of ' : ''}${seconds.join(', ')}, seen ${seen(args.slice(0, 1))}`)
  if (role === undefined) return refuse(`expected a role or a command, seen "${name}"`)
  if (rest.length > 0)
    return ['--help', '-h'].includes(rest[0]!)
      ? print(roleUsage(role))
      : refuse(`${role}: expected ${['no arguments', ...seconds].join(', or ')}, seen ${seen(rest)}`)
  return runRole(role)
}

/** The second words of roles and commands whose names begin with the word. */
function secondWordsOf(word: string): readonly string[] {
  const names = [...ROLE_NAMES, ...Object.keys(COMMAND_RUNNERS)].map(name => name.split(' '))
  return names.flatMap(([first, second]) => (first === word && second !== undefined ? [second] : []))
}

function seen(words: readonly string[]): string {
  return words.length === 0 ? 'nothing' : `"${words.join(' ')}"`
}

type CommandName = keyof typeof COMMAND_RUNNERS

function runCommand(name: CommandName, args: readonly string[]): Promise<number> {
  hearOfUnwritten()
  return COMMAND_RUNNERS[name](args)
}

/** The role's name is the first word, or the first two. */
function takeRole(words: readonly string[]): { readonly role?: RoleName; readonly rest: readonly string[] } {
  for (const length of [2, 1]) {
    const role = words.slice(0, length).join(' ')
    if (isRoleName(role)) return { role, rest: words.slice(length) }
  }
  return { rest: words }
}

async function runRole<R extends RoleName>(role: R): Promise<number> {
  const settings = load(role)
  // Commands log nothing.
  const { createLogger } = await import('./telemetry/logger.ts')
  const format = role === 'standalone' && process.stdout.isTTY ? 'readable' : 'json'
  const log = createLogger({ level: settings.LOG_LEVEL, format, fields: { role } })
  exitOnStrayErrors(log)
  giveBackGarbage()
  for (const problem of findMisspelt(role, process.env)) log.warn({ problem }, 'a setting seems to be misspelt')
  const { start } = await ROLE_LOADERS[role]()
  let isMisconfigured = false
  const begin = () =>
    start({ settings, log, clock: systemClock }).catch(error => {
      isMisconfigured = error instanceof ConfigError
      throw error
    })
  const code = await runUntilSignal(begin, { log, clock: systemClock, signals: process })
  return isMisconfigured ? EXIT.config : code
}

/** Names that seem misspelt stand beside the problems of values: a setting that is missing is often one of them. */
function load<R extends RoleName>(role: R): SettingsOf<R> {
  try {
    return loadSettings(role)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError([...error.problems, ...findMisspelt(role, process.env)])
  }
}

function checkConfig([action, ...words]: readonly string[]): number {
  const { role, rest } = takeRole(words)
  if (action !== 'check') return refuse(`config: expected check and a role, seen ${seen(action === undefined ? [] : [action, ...words])}`)
  if (role === undefined) return refuse(`config check: expected a role, seen ${seen(words)}`)
  if (rest.length > 0) return refuse(`config check: expected a role alone, seen ${seen(words)}`)
  const lines = describeSettings(role, load(role))
  const misspelt = findMisspelt(role, process.env)
  if (misspelt.length > 0) throw new ConfigError(misspelt)
  for (const name of settingsOfOtherRoles(role, process.env)) process.stderr.write(`${name}: set, but ${role} has no such setting\n`)
  return print(`${lines.join('\n')}\n`)
}

/** An error that nobody caught leaves the program in an unknown state: say so and end. */
function exitOnStrayErrors(log: Log): void {
  for (const event of ['uncaughtException', 'unhandledRejection'])
    process.on(event, error => {
      log.error({ error, event }, 'unexpected error')
      process.exit(EXIT.failure)
    })
}

function print(text: string): number {
  hearOfUnwritten()
  process.stdout.write(text)
  return EXIT.ok
}

function refuse(problem: string): number {
  process.stderr.write(`logpipeline: ${problem}\n\n${usage()}`)
  return EXIT.usage
}

function report(error: unknown): number {
  if (!(error instanceof ConfigError)) {
    process.stderr.write(`logpipeline: ${describeProblem(error)}\n`)
    return EXIT.failure
  }
  for (const problem of error.problems) process.stderr.write(`${problem}\n`)
  return EXIT.config
}

/** Why output could not be written, such as to a file on a full disk. */
let unwritten: Error | undefined

/** For texts and commands: they end by themselves. A reader that went away has seen enough (`keys list | head`). */
function hearOfUnwritten(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error
  })
}

async function withOutput(code: number): Promise<number> {
  // A write that fails tells so a tick later.
  await new Promise(done => setImmediate(done))
  if (unwritten === undefined) return code
  process.stderr.write(`logpipeline: stdout cannot be written: ${unwritten.message}\n`)
  return code === EXIT.ok ? EXIT.failure : code
}

process.exit(await withOutput(await main(process.argv.slice(2)).catch(report)))
