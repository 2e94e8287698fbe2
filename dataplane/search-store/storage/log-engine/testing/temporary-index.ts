import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MappingConfig } from '../../../mapping/mapping-config.ts'
import type { IndexFiles } from '../format/index-files.ts'
import { type LogIndex, openLogIndex } from '../log-index.ts'
import { createByteCache } from '../sealed/byte-cache.ts'

/** A folder of its own, gone after `use`. */
export async function withDirectory<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'log-engine-'))
  try {
    return await use(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The folder of the index within that of the test. */
export const folderOf = (dir: string): string => join(dir, 'index')

/** Names of the files of its segments. */
export const segmentsOf = (dir: string): readonly string[] => readdirSync(folderOf(dir)).filter(name => name.endsWith('.seg'))

/** So few that tests meet runs of ids on disk. */
const MAX_IDS_IN_MEMORY = 40

export function openIndex(
  dir: string,
  mapping: MappingConfig,
  files?: IndexFiles,
  clock = { nowMs: () => 0 },
  maxIdsInMemory = MAX_IDS_IN_MEMORY,
): Promise<LogIndex> {
  let uuids = 0
  const cache = createByteCache(4 << 20)
  const deps = {
    clock,
    cache,
    newUuid: () => `uuid-${uuids++}`,
    maxIdsInMemory,
    ...(files === undefined ? {} : { files }),
  }
  return openLogIndex({ dir: folderOf(dir), name: 'service-logs-2026.11.21', mapping }, deps)
}
