/** A folder on a file system in memory, for the files of unit tests: a disk makes each of their thousands of fsyncs wait. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitOnSignals } from './exit-on-signals.ts'

const PLACE = '/dev/shm'
/** Linux' number of tmpfs. */
const TMPFS = 0x01021994
/** The files of all groups that run at once take some hundred MB. Containers often have 64 MB there. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3
/** With the process that made it. */
const NAME = /^logpipeline-tests-(\d+)$/

/** Its path; undefined where there is none that has room and runs programs. It is gone when this process ends, or at the latest when the next one starts. */
export function makeMemoryDisk(): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(PLACE)
    if (type !== TMPFS || bavail * bsize < LEAST_FREE_BYTES) return undefined
    removeLeft()
    const dir = join(PLACE, `logpipeline-tests-${process.pid}`)
    mkdirSync(dir, { mode: 0o700 })
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
    exitOnSignals()
    const program = join(dir, 'program')
    writeFileSync(program, '#!/bin/sh\nexit 7\n', { mode: 0o755 })
    return spawnSync(program).status === 7 ? dir : undefined
  } catch {
    // No Linux, or a place that is not ours to write to.
    return undefined
  }
}

/** Folders of processes that were killed. */
function removeLeft(): void {
  for (const name of readdirSync(PLACE)) {
    const pid = NAME.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(PLACE, name), { recursive: true, force: true })
  }
}
