/** Which form the files of a `DATA_DIR` have: a version refuses what a later one wrote, instead of reading a part of it. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { version } from '../config/version.ts'
import { jsonOf } from '../json/json-of.ts'
import { syncDirectory } from '../process/durable-directory.ts'

const FORMAT_FILE = 'format.json'
/** Raised by a change after which this version's predecessors would misread, or lose, what lies in `DATA_DIR`. */
const FORMAT = 1
/** The form of directories without a `format.json`: versions of before 2026-11-30 made none. */
const FORMAT_WITHOUT_FILE = 1

const SHAPE = z.object({
  format: z.int().min(1),
  /** The version of logpipeline that worked there last. */
  version: z.string(),
})

/**
 * To be called before anything in the directory is read: throws with a message for the user where a later version has written there what this one cannot
 * read. A directory that is not there, or a backup, will do; `name` stands for it in the message.
 */
export function refuseLaterFormat(dataDir: string, name = `DATA_DIR ${dataDir}`): void {
  readFormat(dataDir, name)
}

/** The same, and notes that this version works there now. The directory must be there. */
export function noteFormat(dataDir: string): void {
  const found = readFormat(dataDir)
  if (found.format === FORMAT && found.version === version) return
  try {
    writeFormat(dataDir)
  } catch (error) {
    // A start on a full disk goes on: the note that lies there says the same.
    if (found.format !== FORMAT) throw error
  }
}

function readFormat(dataDir: string, name = `DATA_DIR ${dataDir}`): { readonly format: number; readonly version?: string } {
  const path = join(dataDir, FORMAT_FILE)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { format: FORMAT_WITHOUT_FILE }
    throw error
  }
  const parsed = SHAPE.safeParse(jsonOf(text))
  if (!parsed.success)
    throw new Error(
      `${path}: expected JSON such as {"format":${FORMAT},"version":"${version}"}, seen ${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}; ` +
        `where logpipeline ${version} was the last to work in ${dataDir}, remove the file and start again`,
    )
  const { data } = parsed
  if (data.format > FORMAT)
    throw new Error(
      `${name}: expected data of format ${FORMAT}, which logpipeline ${version} reads, seen format ${data.format}, written by logpipeline ${data.version}; ` +
        `start ${data.version} or later, or restore a backup that was made before the upgrade`,
    )
  return data
}

const SHOWN_CHARACTERS = 100

/** Whole or not at all, also when the process is killed. */
function writeFormat(dataDir: string): void {
  const path = join(dataDir, FORMAT_FILE)
  const descriptor = openSync(`${path}.tmp`, 'w', 0o600)
  try {
    writeFileSync(descriptor, `${JSON.stringify({ format: FORMAT, version })}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(`${path}.tmp`, path)
  syncDirectory(dataDir)
}
