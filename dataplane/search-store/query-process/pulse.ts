/**
 * The state of the query process: a few bytes in a file without a name that both processes have open. The store can read them at any
 * time, also when the process is stuck or has ended.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDiskFull } from '../full-disk.ts'

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

/**
 * The file has all its bytes from the start, so that a disk that fills up later does not end the process. Where `dir` is full it lies among the temporary
 * files; where these take nothing either, the process goes without.
 */
export function openPulse(dir: string, otherwise = tmpdir()): number {
  const fd = openNameless(dir)
  const nothing = Buffer.alloc(BYTES)
  if (writes(fd, nothing)) return fd
  try {
    const other = openNameless(otherwise)
    if (writes(other, nothing)) {
      closeSync(fd)
      return other
    }
    closeSync(other)
  } catch {
    return fd
  }
  return fd
}

/** The file goes when nobody has it open. */
function openNameless(dir: string): number {
  const path = join(dir, `query-process-${randomUUID()}.pulse`)
  const fd = openSync(path, 'wx+', 0o600)
  rmSync(path, { force: true })
  return fd
}

/** False where the disk is full. */
function writes(fd: number, bytes: Buffer): boolean {
  try {
    return writeSync(fd, bytes, 0, BYTES, 0) === BYTES
  } catch (error) {
    if (isDiskFull(error)) return false
    throw error
  }
}

export function createPulseWriter(fd: number): (pulse: Pulse) => void {
  const bytes = Buffer.alloc(BYTES)
  return ({ turn, query, heaviest, heldBytes, usedBytes }) => {
    bytes.writeUInt32LE(turn >>> 0, 0)
    bytes.writeUInt32LE(query, 4)
    bytes.writeUInt32LE(heaviest, 8)
    bytes.writeDoubleLE(heldBytes, 16)
    bytes.writeDoubleLE(usedBytes, 24)
    writes(fd, bytes)
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
