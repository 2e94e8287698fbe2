/** Calls the owner of the log from another thread. */
import type { MessagePort } from 'node:worker_threads'
import { BusError, type BusErrorReason } from '../../../ports/bus.ts'
import { toBusError } from './bus-errors.ts'
import type { MemberEvent } from './groups/group-coordinator.ts'
import type { LogOwner } from './log-owner.ts'

/** The owner's methods as they are called across threads; `join` gets its events in messages of their own, `close` is the client's end alone. */
type Callable = Exclude<keyof LogOwner, 'join' | 'close'>
type RemoteMethod = Callable | 'join'

interface Request {
  readonly id: number
  readonly method: RemoteMethod
  readonly args: readonly unknown[]
}

type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly reason: BusErrorReason; readonly message: string } }
  | { readonly memberId: string; readonly event: MemberEvent }

/** Answers one client in another thread until it hangs up; what it left behind in groups is cleared away. */
export function serveOwner(owner: LogOwner, port: MessagePort): void {
  const members = new Set<string>()
  const call = (method: RemoteMethod, args: readonly unknown[]): Promise<unknown> => {
    if (method !== 'join') return (owner[method] as (...all: readonly unknown[]) => Promise<unknown>)(...args)
    const [request] = args as Parameters<LogOwner['join']>
    members.add(request.memberId)
    return owner.join(request, event => port.postMessage({ memberId: request.memberId, event } satisfies Reply))
  }
  port.on('message', ({ id, method, args }: Request) => {
    call(method, args).then(
      result => port.postMessage({ id, result } satisfies Reply),
      (failure: unknown) => {
        const { reason, message } = toBusError(failure, 'the bus failed')
        port.postMessage({ id, error: { reason, message } } satisfies Reply)
      },
    )
  })
  port.on('close', () => {
    for (const memberId of members) void owner.leave(memberId)
  })
}

/** The owner as a thread sees it that holds the other end of the channel. */
export function connectOwner(port: MessagePort): LogOwner {
  const waiting = new Map<number, { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void }>()
  const listeners = new Map<string, (event: MemberEvent) => void>()
  let lastId = 0
  let isClosed = false

  const call = <T>(method: RemoteMethod, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []): Promise<T> => {
    if (isClosed) return Promise.reject(new BusError('closed', 'the bus is closed'))
    return new Promise<T>((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve: resolve as (result: never) => void, reject })
      port.postMessage({ id, method, args } satisfies Request, transfer as ArrayBuffer[])
    })
  }
  port.on('message', (reply: Reply) => {
    if ('event' in reply) return listeners.get(reply.memberId)?.(reply.event)
    const pending = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('error' in reply) pending?.reject(new BusError(reply.error.reason, reply.error.message))
    else pending?.resolve(reply.result as never)
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of waiting.values()) reject(new BusError('unavailable', 'the thread that owns the bus is gone'))
    waiting.clear()
  })

  return {
    append: (topic, frame) => call('append', [topic, frame], transferable(frame.body)),
    commitTransaction: (outputs, groups) => call('commitTransaction', [outputs, groups]),
    join: (request, notify) => {
      listeners.set(request.memberId, notify)
      return call('join', [request])
    },
    leave: memberId => {
      listeners.delete(memberId)
      // Hanging up is leaving, too.
      return call<void>('leave', [memberId]).catch((error: unknown) => {
        if (!isClosed) throw error
      })
    },
    release: (memberId, partitions) => call('release', [memberId, partitions]),
    commitOffsets: (memberId, offsets) => call('commitOffsets', [memberId, offsets]),
    locate: (topic, wanted) => call('locate', [topic, wanted]),
    committedOffsets: groupId => call('committedOffsets', [groupId]),
    partitions: () => call('partitions', []),
    problem: () => call('problem', []),
    deletedEarlyBytes: () => call('deletedEarlyBytes', []),
    purge: topic => call('purge', [topic]),
    async close() {
      port.close()
    },
  }
}

const MIN_TRANSFER_BYTES = 4096

/** A body that has its memory to itself moves; a small one, and one in Node's shared pool, is copied. */
function transferable({ buffer, byteOffset, length }: Uint8Array): readonly ArrayBuffer[] {
  const isOwn = byteOffset === 0 && buffer instanceof ArrayBuffer && buffer.byteLength !== Buffer.poolSize
  return isOwn && length >= MIN_TRANSFER_BYTES ? [buffer] : []
}
