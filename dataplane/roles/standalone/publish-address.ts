import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../ports/clock.ts'
import type { Running } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { SEARCH_ADDRESS_FILE } from '../search-address-file.ts'

/** Between two attempts to write the file. */
const AGAIN_MS = 5_000

export interface PublishDeps {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: Log
  /** Writes a file; throws where the disk is full. */
  readonly write?: (file: string, text: string) => void
}

/**
 * Tells commands, by a file in `DATA_DIR`, where the store of this standalone is. A full disk does not keep the standalone from starting: its logs can be
 * searched, and retention can make room. The file is written as soon as there is room.
 */
export function publishSearchAddress(address: string, { dataDir, clock, log, write = writeFileSync }: PublishDeps): Running {
  const file = join(dataDir, SEARCH_ADDRESS_FILE)
  const stopping = new AbortController()
  const text = `${address}\n`
  const attempt = (): unknown => {
    try {
      if (read(file) !== text) write(file, text)
      return undefined
    } catch (error) {
      return error
    }
  }
  const goOn = async () => {
    while (!stopping.signal.aborted && attempt() !== undefined) await clock.sleep(AGAIN_MS, stopping.signal)
  }
  const error = attempt()
  if (error !== undefined) log.error({ error, file }, 'cannot write: commands find this standalone once the disk has room')
  const published = error === undefined ? undefined : goOn()
  return {
    async stop() {
      stopping.abort()
      await published
      rmSync(file, { force: true })
    },
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
