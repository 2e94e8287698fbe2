/** Faults that are queued for a stub: each is used for the next request that it is meant for. */
import { z } from 'zod'

const meant = {
  /** How many requests meet it. */
  times: z.int().min(1).max(1_000).default(1),
  /** Method and path of a route as `GET /_stub/state` lists them, such as `POST /rest/api/3/issue`. Default: any request that changes something. */
  on: z.string().max(200).optional(),
}
/** The platform does what was asked, and only then fails. */
const afterAccepting = z.boolean().default(false)

const FAULT = z.discriminatedUnion('kind', [
  /** An error with the platform's own body, or with `text` as plain text. For e-mail an SMTP code. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(200).max(599),
    text: z.string().max(10_000).optional(),
    afterAccepting,
    ...meant,
  }),
  z.strictObject({
    kind: z.literal('rate-limit'),
    retryAfter: z.enum(['seconds', 'date', 'absent']),
    seconds: z.number().min(0).max(3_600).default(1),
    ...meant,
  }),
  /** The connection breaks without an answer. */
  z.strictObject({ kind: z.literal('reset'), afterAccepting, ...meant }),
  /** The answer comes late. */
  z.strictObject({ kind: z.literal('stall'), ms: z.int().min(1).max(300_000).default(30_000), afterAccepting, ...meant }),
  /** 200 and a page, as a hibernating ServiceNow instance answers. */
  z.strictObject({ kind: z.literal('html'), ...meant }),
  /** A fault of one platform alone, such as `search-lag` of Jira. */
  z.strictObject({
    kind: z.literal('own'),
    name: z.string().max(40),
    value: z.union([z.number(), z.string().max(200)]).optional(),
    times: meant.times,
  }),
  /** From now on so many requests are taken from each caller; others get 429. */
  z.strictObject({ kind: z.literal('limit'), perSecond: z.number().positive(), burst: z.int().min(1).default(1) }),
])

export type FaultInput = z.input<typeof FAULT>
export type Fault = z.output<typeof FAULT>
/** One that waits for a request. */
export type RequestFault = Exclude<Fault, { readonly kind: 'own' | 'limit' }>

/** The problem as a text, or the fault. */
export function parseFault(value: unknown): Fault | string {
  const parsed = FAULT.safeParse(value)
  if (parsed.success) return parsed.data
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'fault'}: ${message}`).join('; ')
}

export interface FaultQueue {
  /** False when the queue is full. */
  add(fault: RequestFault): boolean
  /** The first that is meant for the request. */
  take(route: string, isChange: boolean): RequestFault | undefined
  waiting(): readonly RequestFault[]
  clear(): void
}

export const MAX_FAULTS = 100

export function createFaultQueue(): FaultQueue {
  const queue: { readonly fault: RequestFault; left: number }[] = []
  return {
    add: ({ times, ...fault }) => queue.length < MAX_FAULTS && queue.push({ fault: { ...fault, times }, left: times }) > 0,
    take(route, isChange) {
      const at = queue.findIndex(({ fault }) => (fault.on === undefined ? isChange : fault.on === route))
      const found = queue[at]
      if (found === undefined) return undefined
      found.left -= 1
      if (found.left === 0) queue.splice(at, 1)
      return found.fault
    },
    waiting: () => queue.map(({ fault, left }) => ({ ...fault, times: left })),
    clear: () => queue.splice(0),
  }
}
