/** Writes header blocks (RFC 7541) that leave the table of the other end alone, so that a block can be written once and sent often. */
import { Buffer } from 'node:buffer'
import { type HeaderField, STATIC_TABLE } from './hpack-static-table.ts'

/** Names in lower case, one byte for each character. */
export function encodeHeaders(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(fields.map(encodeField))
}

/** Empties the table of the other end, which may have asked for a smaller one (RFC 7541, 4.2). */
export const EMPTY_TABLE = Buffer.from([0x20])

function encodeField([name, value]: HeaderField): Buffer {
  const whole = STATIC_TABLE.findIndex(field => field[0] === name && field[1] === value)
  if (whole >= 0) return integer(0x80, 7, whole + 1)
  const known = STATIC_TABLE.findIndex(field => field[0] === name) + 1
  return Buffer.concat([integer(0, 4, known), ...(known === 0 ? [text(name)] : []), text(value)])
}

function text(value: string): Buffer {
  return Buffer.concat([integer(0, 7, value.length), Buffer.from(value, 'latin1')])
}

function integer(flags: number, prefixBits: number, value: number): Buffer {
  const mask = (1 << prefixBits) - 1
  if (value < mask) return Buffer.from([flags | value])
  const bytes = [flags | mask]
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
