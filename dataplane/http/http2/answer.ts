import { Buffer } from 'node:buffer'
import { writeFrameHeader } from './frame-writer.ts'
import { encodeHeaders } from './hpack-encoder.ts'
import type { HeaderField } from './hpack-static-table.ts'
import { FLAG, FRAME, FRAME_HEADER_BYTES } from './protocol.ts'

export interface AnswerParts {
  readonly head: readonly HeaderField[]
  /** Together with the trailers, shorter than a frame may be. */
  readonly body?: Uint8Array
  readonly trailers?: readonly HeaderField[]
}

export interface Part {
  readonly type: number
  readonly flags: number
  readonly payload: Uint8Array
}

/** An answer in the form in which it is sent; it can be sent to any number of requests. */
export class Answer {
  readonly head: Part
  readonly body: Uint8Array
  readonly trailers: Part | undefined
  /** All frames at once, with no stream ids. */
  readonly frames: Buffer
  readonly idPlaces: readonly number[]

  constructor({ head, body = new Uint8Array(), trailers }: AnswerParts) {
    const hasBody = body.length > 0
    this.body = body
    this.head = headersPart(head, !hasBody && trailers === undefined)
    this.trailers = trailers && headersPart(trailers, true)
    const data: Part = { type: FRAME.data, flags: trailers === undefined ? FLAG.endStream : 0, payload: body }
    const parts = [this.head, ...(hasBody ? [data] : []), ...(this.trailers === undefined ? [] : [this.trailers])]
    const frames = parts.map(frameOf)
    this.frames = Buffer.concat(frames)
    const starts = frames.map((_, i) => frames.slice(0, i).reduce((sum, frame) => sum + frame.length, 0))
    this.idPlaces = starts.map(start => start + FRAME_HEADER_BYTES - 4)
  }
}

export function headersPart(fields: readonly HeaderField[], isLast: boolean): Part {
  return { type: FRAME.headers, flags: FLAG.endHeaders | (isLast ? FLAG.endStream : 0), payload: encodeHeaders(fields) }
}

function frameOf({ type, flags, payload }: Part): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  writeFrameHeader(header, 0, { length: payload.length, type, flags, streamId: 0 })
  return Buffer.concat([header, payload])
}
