/** Facts of the machine on which figures depend. */
import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { resolve } from 'node:path'

const PROJECT = resolve(import.meta.dirname, '../..')

/** `folders`: the measured code, told as changed where it differs from the commit. */
export function describeMachine(folders: readonly string[]): Readonly<Record<string, string | number>> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    commit: describeCommit(folders),
    /** Above 0.3 other work on the machine blurs the figures. */
    loadAverage: Math.round(loadavg()[0]! * 100) / 100,
    started: new Date().toISOString(),
  }
}

/** The commit that a checkout is at. */
export function describeCommit(folders: readonly string[], checkout = PROJECT): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: checkout, encoding: 'utf8' }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', ...folders) === '' ? '' : ' and changes')
  } catch (error) {
    return `unknown: ${(error as Error).message.split('\n')[0]}`
  }
}
