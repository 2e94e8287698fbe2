/**
 * Loaded before a process's own code, in each of its threads: while the file that `STILL_DISK_FILE` names is there, nothing that is written below the
 * directory in it reaches the disk: a caller waits on, as with a disk that hangs.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const LOOK_EVERY_MS = 50

const file = process.env['STILL_DISK_FILE']
if (file !== undefined) {
  const { fdatasync } = fs
  const isStill = (descriptor: number): boolean => {
    if (!fs.existsSync(file)) return false
    const directory = fs.readFileSync(file, 'utf8')
    return directory !== '' && fs.readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(directory)
  }
  const syncOnceItMoves: typeof fdatasync = Object.assign(
    (descriptor: number, done: fs.NoParamCallback) => {
      if (isStill(descriptor)) setTimeout(syncOnceItMoves, LOOK_EVERY_MS, descriptor, done)
      else fdatasync(descriptor, done)
    },
    { __promisify__: fdatasync.__promisify__ },
  )
  fs.fdatasync = syncOnceItMoves
  syncBuiltinESMExports()
}
