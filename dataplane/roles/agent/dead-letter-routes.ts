/** Dead letters for the console: which lie there, and sending them again. Not their contents, which are the records of all tenants. */
import { z } from 'zod'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { DEAD_LETTER_STAGES } from '../../pipeline/dead-letters/dead-letter.ts'
import type { Letter } from '../../pipeline/dead-letters/letter.ts'
import { readLetters } from '../../pipeline/dead-letters/read-letters.ts'
import { replayLetters } from '../../pipeline/dead-letters/replay-letters.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'

export interface DeadLetterRouteDeps {
  readonly bus: () => Promise<Pick<Bus, 'describe' | 'subscribe' | 'send'>>
  /** The dead-letter topic. */
  readonly topic: string
  /** Where letters may go back to. */
  readonly origins: ReadonlySet<string>
  readonly clock: Clock
  readonly log: Log
}

/** Letters of one listing, the oldest. */
const MAX_LISTED = 500
/** Letters of one replay, the oldest; more are for `logpipeline dlq replay`. */
const MAX_REPLAYED = 100_000
/** Beginning of a reason that is shown. */
const MAX_REASON_LENGTH = 300

const WHICH = {
  stage: z.enum(DEAD_LETTER_STAGES).optional(),
  topic: z.string().min(1).max(249).optional(),
  reason: z.string().min(1).max(200).optional(),
}
const LISTING = z.strictObject({
  ...WHICH,
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `expected an integer from 1 to ${MAX_LISTED}`)
    .transform(Number)
    .pipe(z.number().min(1).max(MAX_LISTED))
    .prefault('100'),
})

export function deadLetterRoutes({ bus, topic, origins, clock, log }: DeadLetterRouteDeps): readonly Route[] {
  let isReplaying = false
  return [
    route({
      method: 'GET',
      path: '/dead-letters',
      query: LISTING,
      async handle({ query: { limit, ...filter }, tenant }) {
        assertForAll(tenant)
        const letters: object[] = []
        for await (const letter of readLetters({ bus: await open(bus), topic, filter, limit })) letters.push(show(letter))
        return { body: { letters } }
      },
    }),
    route({
      method: 'POST',
      path: '/dead-letters/replay',
      body: z.strictObject(WHICH),
      async handle({ body: filter, tenant }) {
        assertForAll(tenant)
        if (isReplaying) throw new HttpError(409, 'a replay of dead letters is under way')
        isReplaying = true
        try {
          const opened = await open(bus)
          const letters = readLetters({ bus: opened, topic, filter, limit: MAX_REPLAYED })
          const { sent, repeated, cut, strange } = await replayLetters(letters, { bus: opened, topics: origins, clock })
          const answer = { sent: Object.fromEntries(sent), repeated, cut, strange: Object.fromEntries(strange) }
          log.info({ ...answer }, 'dead letters replayed')
          return { body: { status: 'ok', ...answer } }
        } finally {
          isReplaying = false
        }
      },
    }),
  ]
}

/** Letters are those of all tenants. */
function assertForAll(tenant: string | undefined): void {
  if (tenant !== undefined) throw new HttpError(403, 'dead letters are those of all tenants: not for one of them')
}

async function open<T>(bus: () => Promise<T>): Promise<T> {
  try {
    return await bus()
  } catch (cause) {
    throw new HttpError(503, 'the message bus cannot be reached', { 'retry-after': '5' }, { cause })
  }
}

function show({ value, key, tenant, reason, receivedMs: _received, ...letter }: Letter) {
  return { ...letter, tenant, service: key.slice(tenant.length + 1), reason: reason.slice(0, MAX_REASON_LENGTH), bytes: value.length }
}
