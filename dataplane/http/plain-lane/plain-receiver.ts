import type { PlainAnswer } from './answer-writer.ts'
import type { PlainHead } from './plain-head.ts'

/** Takes one request. */
export interface PlainReceiver {
  /** So many bytes more of it are held, those of the head included. False: there is no room, and Node's HTTP server gets the request. */
  grow(bytes: number): boolean
  /** The body is whole, and the receiver's alone. `answer` has to be called once. */
  end(body: Uint8Array, answer: (answer: PlainAnswer) => void): void
  /** The body does not come to its end here: the client is gone, or Node's HTTP server gets the request. */
  cut(): void
}

/** Answers the request before its body is whole, and closes the connection. Nothing of the receiver is called afterwards. */
export type Refuse = (answer: PlainAnswer) => void

/**
 * Is asked for each request of a connection, in turn; undefined leaves the request to Node's HTTP server. Nothing more is read from the
 * connection while a promise waits; one that rejects leaves the request, too.
 */
export type PlainHandler = (head: PlainHead, refuse: Refuse) => PlainReceiver | undefined | Promise<PlainReceiver | undefined>
