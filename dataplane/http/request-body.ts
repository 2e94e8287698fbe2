/** Reads request bodies within bounds: bytes sent and unpacked, memory, idle time, depth. Who reads gives the bounds, and the errors to throw. */
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { isDeeperThan } from '../json/depth.ts'
import { releaseBytes } from '../memory/release-bytes.ts'
import { BodyPieces } from './body-pieces.ts'

/** Each gives the error to throw. */
export interface BodyErrors {
  /** `seenBytes`: the size of the body, where the client has told it. */
  tooLarge(maxBytes: number, seenBytes?: number): Error
  /** The client is gone. */
  cutShort(cause: unknown): Error
}

export interface UnpackErrors {
  unknownEncoding(encoding: string): Error
  notAsEncoded(encoding: string, cause: unknown): Error
}

/** Where a body is held. */
export interface BodyMemory {
  /** The pieces as one. */
  join(pieces: readonly Buffer[], sizeBytes: number): Buffer
  /** Takes back what was sent, once it is unpacked. */
  release(body: Buffer): void
  /** Takes back the pieces of a body that is refused or cut short, so that the next request has their room. */
  drop(pieces: readonly Buffer[]): void
}

/** Memory that requests share. */
export interface SharedMemory {
  /** The body begins to come. `onGivenUp` is called when it is too slow and others need its memory. */
  begin?(onGivenUp: (error: Error) => void): void
  /** So many bytes more are held, sent or unpacked. `isLast`: the body is whole with them. Throws when there is no room for them. */
  grow(bytes: number, isLast?: boolean): void
  /** The body is whole. */
  end?(): void
}

export interface BodyForm {
  /** As sent, and unpacked. */
  readonly maxBytes: number
  readonly errors: BodyErrors
  /** Default: there always is room. */
  readonly shared?: SharedMemory | undefined
  /** Default: new memory for each body. */
  readonly memory?: BodyMemory
  /** How long nothing of it may come. Default: the server's own limits. */
  readonly idle?: { readonly ms: number; readonly error: () => Error }
  /** Without this a body is given as it was sent. */
  readonly unpack?: {
    /** By the name of the encoding; `identity` is none of them. */
    readonly decoders: ReadonlyMap<string, () => Transform>
    readonly errors: UnpackErrors
  }
}

const NEW_MEMORY: BodyMemory = {
  join(pieces, sizeBytes) {
    if (pieces.length === 1) return pieces[0]!
    const whole = Buffer.concat(pieces, sizeBytes)
    pieces.forEach(releaseBytes)
    return whole
  },
  release: () => undefined,
  drop: pieces => pieces.forEach(releaseBytes),
}

/** The whole body. When it rejects, the rest of the body may still be unread; reading is paused then. */
export async function readBody(request: IncomingMessage, form: BodyForm): Promise<Buffer> {
  const encoding = form.unpack === undefined ? 'identity' : (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const decoder = form.unpack?.decoders.get(encoding)
  if (form.unpack !== undefined && decoder === undefined && encoding !== 'identity') throw form.unpack.errors.unknownEncoding(encoding)
  const promisedBytes = Number(request.headers['content-length'] ?? 0)
  if (promisedBytes > form.maxBytes) throw form.errors.tooLarge(form.maxBytes, promisedBytes)
  const sent = await receive(request, form)
  if (decoder === undefined || sent.length === 0) return sent
  const stream = decoder()
  try {
    stream.end(sent)
    const body = await gather(stream, form, cause => form.unpack!.errors.notAsEncoded(encoding, cause))
    form.memory?.release(sent)
    return body
  } finally {
    stream.destroy()
  }
}

async function receive(request: IncomingMessage, form: BodyForm): Promise<Buffer> {
  const cutShort = (cause: unknown) => form.errors.cutShort(cause)
  if (request.destroyed) throw cutShort(undefined)
  return gather(request, form, cutShort, {
    idle: form.idle,
    sizeBytes: Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY),
  })
}

/** A body that is still coming. */
interface Coming {
  readonly idle: BodyForm['idle']
  /** Infinite where it is not told. */
  readonly sizeBytes: number
}

/** All that a stream gives, as one. `broken` makes the error of a stream that does not come to its end. */
async function gather(stream: Readable, form: BodyForm, broken: (cause: unknown) => Error, coming?: Coming): Promise<Buffer> {
  const { maxBytes, errors, shared, memory = NEW_MEMORY } = form
  const pieces = new BodyPieces()
  let sizeBytes = 0
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve, reject) => {
    const take = (piece: Buffer) => {
      timer?.refresh()
      sizeBytes += piece.length
      try {
        if (sizeBytes > maxBytes) throw errors.tooLarge(maxBytes)
        shared?.grow(piece.length, coming !== undefined && sizeBytes >= coming.sizeBytes)
        pieces.add(piece)
      } catch (refusal) {
        refuse(refusal)
      }
    }
    const refuse = (refusal: unknown) => {
      stream.off('data', take).pause()
      reject(refusal)
    }
    const idle = coming?.idle
    if (idle !== undefined) timer = setTimeout(() => refuse(idle.error()), idle.ms)
    if (coming !== undefined) shared?.begin?.(refuse)
    stream.on('data', take)
    let hasEnded = false
    stream.on('end', () => {
      hasEnded = true
      if (coming !== undefined) shared?.end?.()
      resolve()
    })
    stream.on('error', cause => reject(broken(cause)))
    stream.on('close', () => {
      // An error costs more than all else here.
      if (!hasEnded) reject(broken(undefined))
    })
  })
    .catch(error => {
      memory.drop(pieces.take())
      throw error
    })
    .finally(() => clearTimeout(timer))
  return memory.join(pieces.take(), sizeBytes)
}

export interface JsonErrors {
  tooDeep(maxDepth: number): Error
  notUtf8(cause: unknown): Error
  notJson(cause: unknown): Error
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Undefined for no bytes at all. */
export function parseJson(bytes: Uint8Array, maxDepth: number, errors: JsonErrors, parse: (text: string) => unknown = JSON.parse): unknown {
  if (bytes.length === 0) return undefined
  if (isDeeperThan(bytes, maxDepth)) throw errors.tooDeep(maxDepth)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw errors.notUtf8(cause)
  }
  try {
    return parse(text)
  } catch (cause) {
    throw errors.notJson(cause)
  }
}
