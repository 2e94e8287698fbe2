import { GRPC } from './refusal.ts'

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Milliseconds in a `grpc-timeout` header such as `10S`; Infinity without a valid one. */
export function parseGrpcTimeout(header: string | undefined): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(header ?? '')
  return match === null ? Number.POSITIVE_INFINITY : Number(match[1]) * UNIT_MS[match[2]!]!
}

/** The status of a call whose records are taken, but later than its client waits. */
export const TOO_LATE = { code: GRPC.deadlineExceeded, message: 'the deadline passed before the message bus acknowledged' } as const
