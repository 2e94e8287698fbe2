/**
 * The state of the query process: a few bytes in a file without a name that both processes have open. The store can read them at any
 * time, also when the process is stuck or has ended.
 */
import { readSync, writeSync } from 'node:fs'

export interface Pulse {
  /** Grows with every turn. */
  readonly turn: number
  /** The query whose turn it is; 0: none. */
  readonly query: number
  /** The query whose turns have added most to the memory; 0: none. */
  readonly heaviest: number
  /** Memory of the copies of indices, bytes: no query's. */
  readonly heldBytes: number
  /** Memory in use after a turn not long ago, bytes. */
  readonly usedBytes: number
}

const BYTES = 32

export const NO_PULSE: Pulse = { turn: 0, query: 0, heaviest: 0, heldBytes: 0, usedBytes: 0 }

export function createPulseWriter(fd: number): (pulse: Pulse) => void {
  const bytes = Buffer.alloc(BYTES)
  return ({ turn, query, heaviest, heldBytes, usedBytes }) => {
    bytes.writeUInt32LE(turn >>> 0, 0)
    bytes.writeUInt32LE(query, 4)
    bytes.writeUInt32LE(heaviest, 8)
    bytes.writeDoubleLE(heldBytes, 16)
    bytes.writeDoubleLE(usedBytes, 24)
    writeSync(fd, bytes, 0, BYTES, 0)
  }
}

export function readPulse(fd: number): Pulse {
  const bytes = Buffer.alloc(BYTES)
  if (readSync(fd, bytes, 0, BYTES, 0) < BYTES) return NO_PULSE
  return {
    turn: bytes.readUInt32LE(0),
    query: bytes.readUInt32LE(4),
    heaviest: bytes.readUInt32LE(8),
    heldBytes: bytes.readDoubleLE(16),
    usedBytes: bytes.readDoubleLE(24),
  }
}
