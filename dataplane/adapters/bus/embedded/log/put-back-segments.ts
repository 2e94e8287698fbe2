/** Puts segments back that stand under the name of another, as files do that were copied or restored by hand. */
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BusLog } from '../../bus-log.ts'
import type { LogFiles } from './log-files.ts'
import { parseSegmentName, readSegmentHeader, segmentName } from './segment.ts'

const SET_ASIDE = '.misplaced'

export interface TopicFiles {
  readonly topic: string
  readonly directory: string
  readonly files: LogFiles
  readonly log: BusLog
}

/** The header says which segment a file is. A file whose place is taken by the right one is a copy: it stays aside. */
export async function putBackSegments({ topic, directory, files, log }: TopicFiles): Promise<void> {
  for (const name of readdirSync(directory)) {
    const own = parseSegmentName(name)
    const sequence = own === undefined ? undefined : sequenceOf(join(directory, name))
    if (sequence === undefined || sequence === own) continue
    log.error({ topic, file: join(directory, name), segment: sequence }, 'a bus segment stands under the name of another: it is put back')
    await files.rename(join(directory, name), join(directory, `${name}${SET_ASIDE}`))
  }
  for (const name of readdirSync(directory).filter(each => each.endsWith(SET_ASIDE))) {
    const sequence = sequenceOf(join(directory, name))
    if (sequence === undefined) continue
    const place = join(directory, segmentName(sequence))
    if (!existsSync(place)) await files.rename(join(directory, name), place)
    else
      log.error(
        { file: join(directory, name) },
        `a file of the bus is a copy of ${place}, which is there: it is not read, and may be removed`,
      )
  }
  await files.syncDirectory(directory)
}

function sequenceOf(path: string): number | undefined {
  const descriptor = openSync(path, 'r')
  try {
    return readSegmentHeader(descriptor)?.sequence
  } finally {
    closeSync(descriptor)
  }
}
