/** A client that sends frames as they are given, right or wrong. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FRAME, FRAME_HEADER_BYTES, PREFACE } from '../protocol.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

export interface RawClient {
  send(...parts: readonly Uint8Array[]): void
  /** The next frame received that `wanted` holds for; others are passed over. Rejects once the server has closed. */
  next(wanted: (frame: Frame) => boolean): Promise<Frame>
  /** Resolves once the server has closed, with what came since the last `next`. */
  rest(): Promise<readonly Frame[]>
  /** Reads no more. */
  pause(): void
  isClosed(): boolean
  close(): void
}

export const rawFrame = (type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)) => {
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt8(flags, 4)
  header.writeUInt32BE(streamId, 5)
  return Buffer.concat([header, payload])
}

export const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const settingBytes = (setting: number, value: number) => Buffer.concat([Buffer.from([0, setting]), uint32(value)])

export const PREFACE_BYTES = Buffer.from(PREFACE)
/** The first bytes of every client. */
export const GREETING = Buffer.concat([PREFACE_BYTES, rawFrame(FRAME.settings, 0, 0)])

export async function connectRaw(port: number): Promise<RawClient> {
  const socket: Socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let isClosed = false
  let wake = () => {}
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    wake()
  })
  const take = (): Frame | undefined => {
    if (received.length < FRAME_HEADER_BYTES) return undefined
    const end = FRAME_HEADER_BYTES + received.readUIntBE(0, 3)
    if (received.length < end) return undefined
    const frame = {
      type: received[3]!,
      flags: received[4]!,
      streamId: received.readUInt32BE(5),
      payload: received.subarray(FRAME_HEADER_BYTES, end),
    }
    received = received.subarray(end)
    return frame
  }
  const more = () => new Promise<void>(resolve => (wake = resolve))
  return {
    send: (...parts) => void socket.write(Buffer.concat(parts)),
    async next(wanted) {
      for (;;) {
        for (let frame = take(); frame !== undefined; frame = take()) if (wanted(frame)) return frame
        if (isClosed) throw new Error('the server has closed the connection')
        await more()
      }
    },
    async rest() {
      while (!isClosed) await more()
      const frames: Frame[] = []
      for (let frame = take(); frame !== undefined; frame = take()) frames.push(frame)
      return frames
    },
    pause: () => void socket.pause(),
    isClosed: () => isClosed,
    close: () => void socket.destroy(),
  }
}
