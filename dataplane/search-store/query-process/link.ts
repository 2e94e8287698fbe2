/** Messages over a socket between the store and its query process: eight bytes of lengths, the message, then bytes that belong to it. */
import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import { releaseBytes } from '../../memory/release-bytes.ts'

export interface Link<Out> {
  /** False when more is waiting than should: see `drained`. */
  send(message: Out, bytes?: readonly Uint8Array[]): boolean
  /** Resolves when more may be sent, or the other side is gone. */
  drained(): Promise<void>
  close(): void
}

const HEADER_BYTES = 8

export function createLink<Out, In>(socket: Socket, onMessage: (message: In, bytes: Buffer) => void): Link<Out> {
  const reader = createReader(onMessage)
  socket.on('data', chunk => reader(chunk))
  // The end of the process is noticed elsewhere.
  socket.on('error', () => undefined)
  let isCorked = false
  /** Messages of one turn of the event loop leave together. */
  const corkForNow = () => {
    if (isCorked) return
    isCorked = true
    socket.cork()
    process.nextTick(() => {
      isCorked = false
      socket.uncork()
    })
  }
  return {
    send(message, bytes = []) {
      const head = serialize(message)
      const header = Buffer.allocUnsafe(HEADER_BYTES)
      header.writeUInt32LE(head.length, 0)
      header.writeUInt32LE(
        bytes.reduce((sum, each) => sum + each.length, 0),
        4,
      )
      corkForNow()
      socket.write(Buffer.concat([header, head]))
      for (const each of bytes) if (each.length > 0) socket.write(each)
      return !socket.writableNeedDrain
    },
    drained() {
      if (!socket.writableNeedDrain || socket.destroyed) return Promise.resolve()
      return new Promise(resolve => {
        const done = () => {
          socket.off('drain', done)
          socket.off('close', done)
          resolve()
        }
        socket.on('drain', done)
        socket.on('close', done)
      })
    },
    close: () => socket.destroy(),
  }
}

/** Chunks come from the socket, each in memory of its own: it goes back at once. The rest of a chunk that a message was a part of stays. */
function joined(chunks: readonly Buffer[], size: number): Buffer {
  const whole = Buffer.concat(chunks, size)
  for (const each of chunks) releaseBytes(each)
  return whole
}

/** Puts messages together out of chunks; a message in one chunk is not copied. */
function createReader<In>(onMessage: (message: In, bytes: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let size = 0
  let wanted = HEADER_BYTES
  return chunk => {
    chunks.push(chunk)
    size += chunk.length
    if (size < wanted) return
    let whole = chunks.length === 1 ? chunk : joined(chunks, size)
    for (;;) {
      if (whole.length < HEADER_BYTES) {
        wanted = HEADER_BYTES
        break
      }
      const headBytes = whole.readUInt32LE(0)
      const end = HEADER_BYTES + headBytes + whole.readUInt32LE(4)
      if (whole.length < end) {
        wanted = end
        break
      }
      onMessage(deserialize(whole.subarray(HEADER_BYTES, HEADER_BYTES + headBytes)) as In, whole.subarray(HEADER_BYTES + headBytes, end))
      whole = whole.subarray(end)
    }
    chunks = whole.length === 0 ? [] : [whole]
    size = whole.length
  }
}
