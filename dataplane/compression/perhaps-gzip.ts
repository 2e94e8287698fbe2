/** Bytes of a file that may be gzip or not. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

const GZIP = [0x1f, 0x8b]
const UNPACKED_CHUNK_BYTES = 64 * 1024

/** The bytes unpacked where they begin as gzip does, else as they are. Throws when the source breaks, and zlib's error for broken gzip. */
export async function* unpackPerhapsGzip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < GZIP.length) {
    const next = await chunks.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const whole = joined(head, chunks)
  yield* GZIP.every((byte, i) => head[i] === byte) ? unpackGzip(whole) : whole
}

/** Throws when the source breaks, and zlib's error for bytes that are not gzip to their end. */
export function unpackGzip(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return pipeline(Readable.from(source), createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES }), () => undefined)
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield head
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
