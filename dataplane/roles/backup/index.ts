/** `logpipeline backup DIR` and `logpipeline restore DIR`: copies of a `DATA_DIR`, also of one that a standalone works in. */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { type CommandDeps, EXIT, PROCESS } from '../../command-line/command.ts'
import { askStandalone } from '../../command-socket/ask-standalone.ts'
import { loadSomeSettings } from '../../config/environment.ts'
import { version } from '../../config/version.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import { DirectoryInUse, lockDirectory } from '../../process/directory-lock.ts'
import { makeDurableDirectory, syncDirectory } from '../../process/durable-directory.ts'
import { backUpClosedStore } from '../../search-store/back-up-store.ts'
import { refuseLaterFormat } from '../data-format.ts'
import { copyFile } from './copy-file.ts'
import { type BackedUpFile, readManifest, writeManifest } from './manifest.ts'
import { removeStage, type StagedFile, stageBackup } from './stage.ts'
import { RESTORE_MARK } from './unfinished-restore.ts'

const BACKUP_USAGE = `Usage: logpipeline backup DIR

Makes a backup of DATA_DIR in DIR, which must be empty or not there: logs, anomalies, incidents, tickets, settings, keys, features, and the
records that are still on their way. A standalone that works in DATA_DIR goes on meanwhile; every record that it acknowledged before the
command was started is in the backup. DIR may be on another disk. It holds the encryption key: guard it as DATA_DIR itself.
A Kafka, an OpenSearch or a Redis that the settings name is not part of it.

Restore with: DATA_DIR=<a new directory> logpipeline restore DIR
Exit code: 0 done, 1 failed (nothing is left in DIR), 64 the command line is wrong, 78 a setting is wrong, 130 interrupted (likewise).`

const RESTORE_USAGE = `Usage: logpipeline restore DIR

Makes a new DATA_DIR, which must be empty or not there, from the backup in DIR, and checks every file by its SHA-256. A standalone that is
started on it goes on from the moment of the backup. A restore that was broken off can be run again; until then nothing starts on it.
Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong, 130 interrupted.`

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export function runBackup(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  return run({ name: 'backup', usage: BACKUP_USAGE, work: backUp }, args, deps)
}

/** Runs the command and returns its exit code; throws `ConfigError` for wrong settings. */
export function runRestore(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  return run({ name: 'restore', usage: RESTORE_USAGE, work: restore }, args, deps)
}

const BACK_ENDS_ELSEWHERE = ['BUS_BROKERS', 'SEARCH_ENDPOINT', 'ONLINE_STORE_URL'] as const

interface Command {
  readonly name: string
  readonly usage: string
  /** Resolves to what was done; rejects with a message for the user, also once `interrupt` is aborted. */
  readonly work: (dir: string, dataDir: string, clock: Clock, interrupt: AbortSignal) => Promise<string>
}

async function run({ name, usage, work }: Command, args: readonly string[], deps: CommandDeps): Promise<number> {
  const { stdout, stderr, clock, environment } = deps
  if (args.length === 1 && ['--help', '-h'].includes(args[0]!)) {
    stdout.write(`${usage}\n`)
    return EXIT.done
  }
  const [dir] = args
  // An empty name is what a variable without a value leaves: it would be the working directory.
  if (args.length !== 1 || dir!.trim() === '' || dir!.startsWith('-')) {
    stderr.write(`logpipeline ${name}: expected one directory, seen ${args.join(' ').trim() || 'nothing'}\n\n${usage}\n`)
    return EXIT.usage
  }
  const { DATA_DIR, ...elsewhere } = loadSomeSettings('standalone', ['DATA_DIR', ...BACK_ENDS_ELSEWHERE], environment)
  const interrupt = new AbortController()
  const stop = () => interrupt.abort()
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    const startMs = monotonicMs(clock)
    const done = await work(resolve(dir!), resolve(DATA_DIR), clock, interrupt.signal)
    stdout.write(`${done} in ${((monotonicMs(clock) - startMs) / 1_000).toFixed(1)} s\n`)
    for (const [setting, value] of Object.entries(elsewhere))
      if (value !== undefined) stderr.write(`${setting} is set: what lies there is no part of a backup\n`)
    return EXIT.done
  } catch (error) {
    const { aborted } = interrupt.signal
    stderr.write(`logpipeline ${name}: ${aborted ? 'interrupted' : (error as Error).message}\n`)
    return aborted ? EXIT.interrupted : EXIT.failed
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

/** A second one ends the command as it is. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

async function backUp(dir: string, dataDir: string, clock: Clock, interrupt: AbortSignal): Promise<string> {
  if (!existsSync(join(dataDir, 'search')) && !existsSync(join(dataDir, 'bus')))
    throw new Error(`DATA_DIR: expected a directory that logpipeline has worked in, seen ${dataDir}`)
  if (isWithin(dataDir, dir)) throw new Error(`expected a directory outside DATA_DIR, seen ${dir}`)
  const isNew = !existsSync(dir)
  checkEmpty(dir, 'the backup')
  // No setting says it.
  makeDurableDirectory(dir, syncDirectory, '')
  const copied: BackedUpFile[] = []
  try {
    const createdAt = new Date(clock.nowMs()).toISOString()
    await withStagedFiles(dataDir, async files => {
      for (const { path, from, bytes } of files) copied.push({ path, ...(await copyFile(from, join(dir, path), interrupt, bytes)) })
    })
    interrupt.throwIfAborted()
    syncAll(dir, copied)
    writeManifest(dir, { version, createdAt, files: copied })
    syncDirectory(dir)
  } catch (error) {
    for (const name of isNew ? [] : readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true })
    if (isNew) rmSync(dir, { recursive: true, force: true })
    throw error
  }
  return `backup of ${dataDir} in ${dir}: ${describe(copied)}`
}

/** The files lie there until `use` is done. Of a `DATA_DIR` in use the process that works there gathers them. */
async function withStagedFiles(dataDir: string, use: (files: readonly StagedFile[]) => Promise<void>): Promise<void> {
  const files: StagedFile[] = []
  let problem = ''
  const code = await askStandalone(
    dataDir,
    { command: 'backup', args: [] },
    {
      print: async () => true,
      stderr: { write: text => (problem += text) },
      async take(data) {
        const part = data as { readonly files: readonly StagedFile[] } | { readonly isComplete: true }
        if ('files' in part) files.push(...part.files)
        else await use(files)
        return 'files' in part
      },
    },
  )
  if (code === undefined) await withStoppedFiles(dataDir, use)
  else if (code !== 0) throw new Error(problem.trim().replace(/^logpipeline backup: /, ''))
}

async function withStoppedFiles(dataDir: string, use: (files: readonly StagedFile[]) => Promise<void>): Promise<void> {
  const locks = [lockDirectory(dataDir)]
  try {
    refuseLaterFormat(dataDir)
    if (existsSync(join(dataDir, 'bus'))) locks.push(lockDirectory(join(dataDir, 'bus')))
    removeStage(dataDir)
    const search = join(dataDir, 'search')
    await use(await stageBackup(dataDir, existsSync(search) ? to => backUpClosedStore(search, to) : undefined))
  } catch (error) {
    if (!(error instanceof DirectoryInUse)) throw error
    throw new Error(`${error.message}. Only a standalone can be backed up while it works`, { cause: error })
  } finally {
    removeStage(dataDir)
    for (const lock of locks) lock.release()
  }
}

async function restore(dir: string, dataDir: string, _clock: Clock, interrupt: AbortSignal): Promise<string> {
  const { files, createdAt } = readManifest(dir)
  refuseLaterFormat(dir, `the backup in ${dir}`)
  if (dataDir !== dir && isWithin(dir, dataDir)) throw new Error(`DATA_DIR: expected a directory outside the backup, seen ${dataDir}`)
  const mark = join(dataDir, RESTORE_MARK)
  if (existsSync(mark)) for (const name of readdirSync(dataDir)) if (name !== RESTORE_MARK) rmSync(join(dataDir, name), { recursive: true })
  if (!existsSync(mark)) checkEmpty(dataDir, 'DATA_DIR')
  makeDurableDirectory(dataDir)
  writeFileSync(mark, `${dir}\n`, { flush: true })
  syncDirectory(dataDir)
  for (const { path, bytes, sha256 } of files) {
    const copied = await copyFile(join(dir, path), join(dataDir, path), interrupt)
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new Error(`${join(dir, path)}: the file is not as it was when the backup was made; use another backup`)
  }
  syncAll(dataDir, files)
  rmSync(mark)
  syncDirectory(dataDir)
  return `DATA_DIR ${dataDir} made from the backup of ${createdAt}: ${describe(files)}`
}

function isWithin(outer: string, dir: string): boolean {
  return `${dir}${sep}`.startsWith(`${outer}${sep}`)
}

function checkEmpty(dir: string, role: string): void {
  if (existsSync(dir) && (!statSync(dir).isDirectory() || readdirSync(dir).length > 0))
    throw new Error(`expected an empty directory for ${role}, or none, seen ${dir}`)
}

/** Makes the names of all files durable. */
function syncAll(dir: string, files: readonly BackedUpFile[]): void {
  const directories = new Set<string>()
  for (const { path } of files) for (let at = dirname(path); at !== '.'; at = dirname(at)) directories.add(at)
  for (const directory of [...directories, '.']) syncDirectory(join(dir, directory))
}

function describe(files: readonly BackedUpFile[]): string {
  const megabytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
  return `${files.length} files, ${megabytes.toFixed(1)} MB,`
}
