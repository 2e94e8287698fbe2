/**
 * Look-ups of names that keep no other waiting. Of Node's threads two look names up, and a look-up cannot be cut short: two names whose servers are silent,
 * each asked for ten seconds, would hold up every connection of the process.
 */
import { keepBounded } from '../../limits/keep-bounded.ts'
import { TargetUnreachable } from '../../ports/outbound-http.ts'

export type Lookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** A look-up that takes longer is slow. */
const QUICK_MS = 1_000
/** Names that are looked up, or wait for it. */
const MAX_ASKED = 1_000
/** Names of which it is known whether they are slow. */
const MAX_KNOWN = 10_000

/** Names that were quick the last time are looked up at once, all others one after the other: new ones first. `nowMs` is never set back. */
export function createFairLookup(lookup: Lookup, nowMs: () => number = () => performance.now()): Lookup {
  const known = new Map<string, 'quick' | 'slow'>()
  const asked = new Map<string, ReturnType<Lookup>>()
  const waiting: { readonly isNew: boolean; begin(): void }[] = []
  let isTaken = false

  const ask = async (host: string) => {
    const beganMs = nowMs()
    try {
      return await lookup(host)
    } finally {
      keepBounded(known, host, nowMs() - beganMs <= QUICK_MS ? 'quick' : 'slow', MAX_KNOWN)
    }
  }

  const beginNext = () => {
    if (isTaken || waiting.length === 0) return
    const [next] = waiting.splice(
      Math.max(
        0,
        waiting.findIndex(({ isNew }) => isNew),
      ),
      1,
    )
    isTaken = true
    next!.begin()
  }
  const askInTurn = async (host: string) => {
    await new Promise<void>(begin => {
      waiting.push({ isNew: !known.has(host), begin })
      beginNext()
    })
    try {
      return await ask(host)
    } finally {
      isTaken = false
      beginNext()
    }
  }

  return async host => {
    const same = asked.get(host)
    if (same !== undefined) return await same
    if (asked.size >= MAX_ASKED) throw new TargetUnreachable(`the name ${host} is not looked up: too many others wait for that`, false)
    const answer = (known.get(host) === 'quick' ? ask(host) : askInTurn(host)).finally(() => asked.delete(host))
    asked.set(host, answer)
    return await answer
  }
}
