/** The list of what a backup holds, by which it is checked. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { jsonOf } from '../../json/json-of.ts'

/** The file that is written last: a directory without it holds no whole backup. */
const MANIFEST = 'backup.json'
const FORMAT = 1

const MANIFEST_SHAPE = z.object({
  format: z.number(),
  /** The version of logpipeline that made it. */
  version: z.string(),
  createdAt: z.string(),
  files: z.array(z.object({ path: z.string().regex(/^(?!\/)(?!(.*\/)?\.\.(\/|$))/), bytes: z.number(), sha256: z.string() })),
})

export type Manifest = z.infer<typeof MANIFEST_SHAPE>
export type BackedUpFile = Manifest['files'][number]

export function writeManifest(dir: string, manifest: Omit<Manifest, 'format'>): void {
  writeFileSync(join(dir, MANIFEST), `${JSON.stringify({ format: FORMAT, ...manifest }, null, 1)}\n`, { mode: 0o600, flush: true })
}

/** Throws with a message for the user where the directory holds no whole backup, or one of a later version. */
export function readManifest(dir: string): Manifest {
  let text: string
  try {
    text = readFileSync(join(dir, MANIFEST), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR')
      throw new Error(`${dir}: expected a backup, seen no ${MANIFEST}: it is something else, or a backup that did not end`)
    throw error
  }
  const parsed = MANIFEST_SHAPE.safeParse(jsonOf(text))
  if (!parsed.success) throw new Error(`${join(dir, MANIFEST)}: expected the list of a backup's files, seen something else`)
  if (parsed.data.format > FORMAT)
    throw new Error(
      `${dir}: expected a backup of format ${FORMAT}, seen ${parsed.data.format}: it was made by logpipeline ${parsed.data.version}`,
    )
  return parsed.data
}
