/** Reads the declared files of one directory as they were at one moment. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DECLARED_TICKETING_FILE } from '../../contract/declared-ticketing-files.ts'
import type { DeclaredLayer } from '../../ports/declared-ticketing.ts'
import type { Checked } from './declared-layer.ts'

const MAX_BYTES = 1024 * 1024
/** Mounts change every minute at the most. */
const MAX_ATTEMPTS = 5
/** The link of a mounted ConfigMap or Secret that is turned to another directory when its content changes. */
const CURRENT = '..data'

class FileProblem extends Error {}

/** Undefined: nothing is declared there. Never rejects. */
export async function readDeclaredFiles(directory: string): Promise<Checked<DeclaredLayer | undefined>> {
  for (let attempt = 1; ; attempt++) {
    const root = await currentRoot(directory)
    const read = await readLayer(root)
    // The link was turned during the read: half of the files may be old, half new.
    if (attempt === MAX_ATTEMPTS || root === (await currentRoot(directory))) return read
  }
}

async function currentRoot(directory: string): Promise<string> {
  try {
    return await realpath(join(directory, CURRENT))
  } catch {
    // No mount, just a directory.
    return directory
  }
}

async function readLayer(root: string): Promise<Checked<DeclaredLayer | undefined>> {
  try {
    const text = await readText(root, DECLARED_TICKETING_FILE)
    if (text === undefined) return { ok: true, value: undefined }
    // The schema's library takes 35 MB, which a process that is declared nothing does without.
    const { buildLayer, parseDeclaration, secretFilesOf } = await import('./declared-layer.ts')
    const declaration = parseDeclaration(text)
    if (!declaration.ok) return declaration
    const present = new Set(await readdir(root))
    const secrets = await Promise.all(
      secretFilesOf(declaration.value)
        .filter(name => present.has(name))
        .map(async name => [name, (await readText(root, name))?.replace(/\r?\n$/, '')] as const),
    )
    return buildLayer(declaration.value, new Map(secrets))
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error
    return { ok: false, problems: [error.message] }
  }
}

/** Undefined: there is no such file. Throws `FileProblem` for one that cannot be read. */
async function readText(root: string, name: string): Promise<string | undefined> {
  const path = join(root, name)
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw new FileProblem(`${name}: expected at most ${MAX_BYTES} bytes, seen ${size}`)
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw error instanceof FileProblem ? error : new FileProblem(`${name}: expected a readable file, seen ${code}`, { cause: error })
  }
}
