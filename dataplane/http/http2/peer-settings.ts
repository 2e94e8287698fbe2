import type { Buffer } from 'node:buffer'
import {
  ConnectionFault,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ERROR_CODE,
  LARGEST_MAX_FRAME_BYTES,
  MAX_WINDOW_BYTES,
  SETTING,
} from './protocol.ts'

const ENTRY_BYTES = 6

/** Settings that the client has asked for. */
export class PeerSettings {
  initialWindowBytes = DEFAULT_WINDOW_BYTES
  /** The next header block has to empty the client's table, whose size it has changed. */
  isTableToBeEmptied = false

  /** Takes a settings frame in. Throws a `ConnectionFault`. */
  apply(bytes: Buffer, start: number, end: number): void {
    if ((end - start) % ENTRY_BYTES !== 0) throw new ConnectionFault(ERROR_CODE.frameSize, 'settings cut short')
    for (let at = start; at < end; at += ENTRY_BYTES) this.#applyOne(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2))
  }

  #applyOne(setting: number, value: number): void {
    switch (setting) {
      case SETTING.headerTableSize:
        this.isTableToBeEmptied = true
        return
      case SETTING.enablePush:
        if (value > 1) throw new ConnectionFault(ERROR_CODE.protocol, `enable push: ${value}`)
        return
      case SETTING.initialWindowSize:
        if (value > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR_CODE.flowControl, `an initial window of ${value} bytes`)
        this.initialWindowBytes = value
        return
      case SETTING.maxFrameSize: // answers are smaller than the least that it may be
        if (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_MAX_FRAME_BYTES)
          throw new ConnectionFault(ERROR_CODE.protocol, `frames of at most ${value} bytes`)
    }
  }
}
