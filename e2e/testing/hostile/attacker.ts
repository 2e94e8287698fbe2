/** A process of its own that sends hostile requests until told to stop: so its work does not delay the measurements of its parent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Addresses, attacksOn, DOORS, type Door } from './doors.ts'
import type { Attack, Reaction } from './send-attack.ts'

export interface AttackOrder {
  readonly addresses: Addresses
  readonly seed: number
  readonly doors: readonly Door[]
  /** Requests that are begun at each door in a second, at most: who sends as fast as it can measures the machine. */
  readonly requestsPerSecond: number
}

/** Messages of the attacker to its parent. */
export type AttackReport =
  | { readonly kind: 'summary'; readonly answers: Readonly<Record<string, number>> }
  | { readonly kind: 'offence'; readonly door: Door; readonly number: number; readonly title: string; readonly what: string }

/** Requests under way at each door. */
const AT_ONCE = 4
/** Answers that say that the server could not cope with the input. */
const OFFENSIVE = /^(500|502|504|none|grpc (2|13))$/
const MAX_OFFENCES = 50
/** Doors that lead to the same servers as others, or cost little, get a part of the requests. */
const SHARES: Readonly<Partial<Record<Door, number>>> = { gateway: 0.25, dashboard: 0.25, wire: 0.25 }

process.once('message', (order: AttackOrder) => void attack(order))

async function attack({ addresses, seed, doors, requestsPerSecond }: AttackOrder): Promise<void> {
  const answers: Record<string, number> = {}
  let offences = 0
  let isStopped = false
  process.once('message', () => {
    isStopped = true
  })
  const startMs = performance.now()
  const sendFrom = async (door: Door, attacks: Generator<Attack>, counter: { sent: number }) => {
    while (!isStopped) {
      const number = counter.sent++
      await sleep(Math.max(0, startMs + (number * 1_000) / (requestsPerSecond * (SHARES[door] ?? 1)) - performance.now()))
      const { title, send } = attacks.next().value as Attack
      const { status, text, leak } = await send().catch((error: Error): Reaction => ({ status: 'unsendable', text: error.message }))
      const key = `${door} ${status}`
      answers[key] = (answers[key] ?? 0) + 1
      if ((OFFENSIVE.test(status) || leak !== undefined) && offences++ < MAX_OFFENCES)
        process.send?.({ kind: 'offence', door, number, title, what: `${status}: ${leak ?? text}` } satisfies AttackReport)
    }
  }
  await Promise.all(
    doors.flatMap(door => {
      const attacks = attacksOn(door, addresses, seed + DOORS.indexOf(door))
      const counter = { sent: 0 }
      return Array.from({ length: AT_ONCE }, () => sendFrom(door, attacks, counter))
    }),
  )
  process.send?.({ kind: 'summary', answers } satisfies AttackReport, () => process.exit(0))
}
