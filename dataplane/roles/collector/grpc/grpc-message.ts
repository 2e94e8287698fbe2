/** The one length-prefixed message of a unary gRPC request. */
import { ENCODINGS, type Encoding } from '../intake/decompress.ts'
import type { MemoryLease } from '../intake/memory-budget.ts'
import { Refusal } from '../intake/refusal.ts'

const PREFIX_BYTES = 5

/** Collects the data frames of a request, charged to the lease. Its methods throw a `Refusal`. */
export class GrpcMessage {
  readonly #limitBytes: number
  readonly #lease: MemoryLease
  readonly #chunks: Buffer[] = []
  #sizeBytes = 0

  constructor(limitBytes: number, lease: MemoryLease) {
    this.#limitBytes = limitBytes
    this.#lease = lease
  }

  add(chunk: Buffer): void {
    this.#lease.grow(chunk.length)
    this.#chunks.push(chunk)
    this.#sizeBytes += chunk.length
    if (this.#sizeBytes > this.#limitBytes + PREFIX_BYTES)
      throw new Refusal('tooLarge', `request message: expected at most ${this.#limitBytes} bytes`)
  }

  /** The message, and how it is compressed; `declared` is what `grpc-encoding` named. */
  finish(declared: Encoding): { readonly body: Uint8Array; readonly encoding: Encoding } {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#sizeBytes)
    if (all.length < PREFIX_BYTES)
      throw new Refusal('malformed', `request message: expected a prefix of ${PREFIX_BYTES} bytes, saw ${all.length}`)
    const flag = all[0]!
    const length = all.readUInt32BE(1)
    const seen = all.length - PREFIX_BYTES
    if (flag > 1) throw new Refusal('malformed', `compressed flag: expected 0 or 1, saw ${flag}`)
    if (length !== seen) throw new Refusal('malformed', `request message: expected one of ${length} bytes, saw ${seen}`)
    if (flag === 1 && declared === 'identity')
      throw new Refusal('malformed', `compressed flag: expected 0 without a grpc-encoding of ${ENCODINGS.join(', ')}`)
    return { body: all.subarray(PREFIX_BYTES), encoding: flag === 1 ? declared : 'identity' }
  }
}
