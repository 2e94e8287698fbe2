import type { IncomingMessage } from 'node:http'
import type { MemoryLease } from '../intake/memory-budget.ts'
import { Refusal } from '../intake/refusal.ts'

/** The whole body, charged to the lease as it comes in. Rejects with a `Refusal`; the rest of the body is then still unread. */
export function readBody(request: IncomingMessage, limitBytes: number, lease: MemoryLease): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length']) > limitBytes) throw tooLarge(limitBytes)
    const chunks: Buffer[] = []
    let size = 0
    const fail = (refusal: unknown) => {
      request.off('data', take)
      reject(refusal)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) return fail(tooLarge(limitBytes))
      try {
        lease.grow(chunk.length)
      } catch (refusal) {
        return fail(refusal)
      }
      chunks.push(chunk)
    }
    request.on('data', take)
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    request.on('error', () => fail(hungUp()))
    request.on('close', () => {
      if (!request.complete) fail(hungUp())
    })
  })
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal('tooLarge', `request body: expected at most ${limitBytes} bytes`)
}

function hungUp(): Refusal {
  return new Refusal('malformed', 'the client hung up before the end of the body')
}
