/** Numbers of HTTP/2 (RFC 9113). */

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
export const FRAME_HEADER_BYTES = 9
/** Bytes that both sides may send before they have agreed on more. */
export const DEFAULT_WINDOW_BYTES = 65_535
export const MAX_WINDOW_BYTES = 0x7fff_ffff
export const DEFAULT_MAX_FRAME_BYTES = 16_384
export const LARGEST_MAX_FRAME_BYTES = 0xff_ffff

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

export const ERROR_CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const
export type ErrorCode = (typeof ERROR_CODE)[keyof typeof ERROR_CODE]

/** A fault of the other end by which the connection has to end. */
export class ConnectionFault extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A fault of the other end on one stream, which has to be reset. */
export class StreamFault extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
