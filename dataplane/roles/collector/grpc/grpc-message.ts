/** The one length-prefixed message of a unary gRPC request. */
import { ENCODINGS, type Encoding } from '../intake/decompress.ts'
import { joinChunks } from '../intake/join-chunks.ts'
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
    const seen = this.#sizeBytes - PREFIX_BYTES
    if (seen < 0) throw new Refusal('malformed', `request message: expected a prefix of ${PREFIX_BYTES} bytes, saw ${this.#sizeBytes}`)
    const prefix = Buffer.concat(this.#chunks, PREFIX_BYTES)
    const flag = prefix[0]!
    const length = prefix.readUInt32BE(1)
    if (flag > 1) throw new Refusal('malformed', `compressed flag: expected 0 or 1, saw ${flag}`)
    if (length !== seen) throw new Refusal('malformed', `request message: expected one of ${length} bytes, saw ${seen}`)
    if (flag === 1 && declared === 'identity')
      throw new Refusal('malformed', `compressed flag: expected 0 without a grpc-encoding of ${ENCODINGS.join(', ')}`)
    return { body: joinChunks(this.#chunks, PREFIX_BYTES, this.#sizeBytes), encoding: flag === 1 ? declared : 'identity' }
  }
}
