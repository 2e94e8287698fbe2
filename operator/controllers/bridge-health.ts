/** Asks bridges that stay unready what they lack, as Kubernetes knows no more than that they are unready. */
import { PORTS } from '../../dataplane/contract/roles.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Pod } from '../observed/foreign-kinds.ts'
import type { Gathered } from '../observed/gathered.ts'

export type BridgeHealth = NonNullable<Gathered['bridgeHealth']>

export interface BridgeHealthDeps {
  readonly clock: Clock
  /** `GET` of a URL; resolves to the body. Default: over HTTP. */
  readonly get?: (url: string, signal: AbortSignal) => Promise<string>
  /** Called after each answer, and when it is time to ask again: look at the pipeline after so long. */
  readonly lookAgain: (key: string, afterMs: number) => void
}

export interface BridgeHealthSource {
  /** What the newest bridge that stays unready said last; undefined while there is none, and until it has answered. Asks anew when that is due. */
  look(key: string, pods: readonly Pod[]): BridgeHealth | undefined
  forget(key: string): void
}

interface Asked {
  readonly atMs: number
  readonly seen?: BridgeHealth
}

/** A bridge that cannot be reached at all holds nobody up. */
const ANSWER_MS = 2_000
const AGAIN_MS = 10_000
/** One that starts is not connected either. */
const PATIENCE_MS = 15_000
const MAX_BODY_CHARACTERS = 64 * 1024
/** Components whose pods answer as a bridge does. */
const BRIDGES: ReadonlySet<string | undefined> = new Set(['bridge', 'standalone'])

export function createBridgeHealth({ clock, get = getText, lookAgain }: BridgeHealthDeps): BridgeHealthSource {
  const asked = new Map<string, Asked>()

  const ask = async (key: string, url: string): Promise<void> => {
    const answer = await get(url, AbortSignal.timeout(ANSWER_MS))
      .then(readHealth)
      .catch(() => undefined)
    const before = asked.get(key)
    // Ready or gone meanwhile.
    if (before === undefined) return
    const { seen: _seen, ...rest } = before
    asked.set(key, answer === undefined ? rest : { ...rest, seen: answer })
    const isNews = answer?.bus !== before.seen?.bus || answer?.search !== before.seen?.search
    lookAgain(key, isNews ? 0 : AGAIN_MS)
  }

  return {
    look(key, pods) {
      const unready = pods.flatMap(unreadyBridge).toSorted((a, b) => b.sinceMs - a.sinceMs)
      const nowMs = clock.nowMs()
      const found = unready.find(({ sinceMs }) => nowMs - sinceMs >= PATIENCE_MS)
      if (found === undefined) {
        asked.delete(key)
        const [youngest] = unready
        if (youngest !== undefined) lookAgain(key, youngest.sinceMs + PATIENCE_MS - nowMs)
        return undefined
      }
      const last = asked.get(key)
      if (last === undefined || nowMs - last.atMs >= AGAIN_MS) {
        asked.set(key, { ...last, atMs: nowMs })
        void ask(key, healthUrl(found.address))
      }
      return last?.seen
    },
    forget: key => void asked.delete(key),
  }
}

function healthUrl(address: string): string {
  const host = address.includes(':') ? `[${address}]` : address
  return `http://${host}:${PORTS.bridge}/health`
}

function unreadyBridge({ metadata, status }: Pod): readonly { readonly address: string; readonly sinceMs: number }[] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (!BRIDGES.has(metadata.labels?.['app.kubernetes.io/component']) || metadata.deletionTimestamp !== undefined) return []
  if (status?.phase !== 'Running' || status.podIP === undefined || ready?.status !== 'False') return []
  return [{ address: status.podIP, sinceMs: Date.parse(ready.lastTransitionTime ?? '') || 0 }]
}

/** Undefined: no answer of a bridge. */
function readHealth(body: string): BridgeHealth | undefined {
  const { bus, search } = JSON.parse(body) as Readonly<Record<string, unknown>>
  return typeof bus === 'string' && typeof search === 'string' ? { bus, search } : undefined
}

/** Whatever the status: a bridge that is not well answers 503. */
async function getText(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal, redirect: 'error' })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_BODY_CHARACTERS) throw new Error(`${url}: the answer is longer than ${MAX_BODY_CHARACTERS} characters`)
  }
  return text
}
