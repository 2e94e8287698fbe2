import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

const CHUNK_BYTES = 1024 * 1024

export interface Copied {
  readonly bytes: number
  readonly sha256: string
}

/** Copies a file, or its beginning, durably, with its mode; `to` must not be there. Rejects when the file is shorter than `bytes`, and once `signal` is aborted. */
export async function copyFile(from: string, to: string, signal: AbortSignal, bytes?: number): Promise<Copied> {
  signal.throwIfAborted()
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const { mode } = await stat(from)
  const hash = createHash('sha256')
  const file = await open(to, 'wx', mode & 0o777)
  let copied = 0
  try {
    if (bytes !== 0)
      for await (const chunk of createReadStream(from, {
        highWaterMark: CHUNK_BYTES,
        signal,
        ...(bytes !== undefined && { end: bytes - 1 }),
      })) {
        hash.update(chunk as Buffer)
        await file.writeFile(chunk as Buffer)
        copied += (chunk as Buffer).length
      }
    await file.sync()
  } finally {
    await file.close()
  }
  if (bytes !== undefined && copied < bytes) throw new Error(`${from}: expected ${bytes} bytes, seen ${copied}`)
  return { bytes: copied, sha256: hash.digest('hex') }
}
