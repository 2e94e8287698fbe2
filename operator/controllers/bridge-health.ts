/** Asks pods that stay unready whether they reach the bus and the search store, as Kubernetes knows no more than that they are unready. */
import { PORTS } from '../../dataplane/contract/roles.ts'
import { createTurnstile } from '../../dataplane/limits/turns.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'
import type { Component } from '../api/components.ts'
import { conditionOf } from '../api/status.ts'
import type { Pod } from '../observed/foreign-kinds.ts'
import type { Gathered } from '../observed/gathered.ts'
import { askPod, podUrl } from './ask-pod.ts'

export type BridgeHealth = NonNullable<Gathered['bridgeHealth']>

export interface BridgeHealthDeps {
  readonly clock: Clock
  /** `GET` of a URL; resolves to the body. Default: over HTTP. */
  readonly get?: (url: string, signal: AbortSignal) => Promise<string>
  /** Called after each answer, and when it is time to ask again: look at the pipeline after so long. */
  readonly lookAgain: (key: string, afterMs: number) => void
}

export interface BridgeHealthSource {
  /** The last answer of the newest pod that stays unready: a bridge, else another component that speaks to the bus. Undefined without such a pod and before its answer. Asks again when that is due. */
  look(key: string, pods: readonly Pod[]): BridgeHealth | undefined
  forget(key: string): void
}

interface Asked {
  readonly atMs: number
  /** Its answer, or its turn, is still to come. */
  readonly isUnderWay: boolean
  readonly seen?: BridgeHealth
}

/** Time for one answer, so that a pod out of reach does not delay the others. */
const ANSWER_MS = 2_000
const AGAIN_MS = 10_000
/** Pipelines whose pods are asked at once: where Kafka is away, all of them have pods to ask. */
const AT_ONCE = 16
/** A pod that was unready for less than this is still starting. */
const PATIENCE_MS = 15_000
const MAX_BODY_CHARACTERS = 64 * 1024

type Connections = Omit<BridgeHealth, 'component'>

interface Asking {
  readonly component: Component
  readonly port: number
  readonly path: string
  /** Undefined for the answer of another program. Throws when the body is not JSON. */
  readonly read: (body: string) => Connections | undefined
}

/** Components that can be asked; the best informed comes first. */
const ASKED: readonly Asking[] = [
  { component: 'bridge', port: PORTS.bridge, path: '/health', read: readConnections },
  { component: 'standalone', port: PORTS.bridge, path: '/health', read: readConnections },
  { component: 'collector', port: PORTS.health, path: '/', read: readCollector },
  { component: 'stream-etl', port: PORTS.stream, path: '/health', read: readConnections },
  { component: 'stream-score', port: PORTS.stream, path: '/health', read: readConnections },
]

export function createBridgeHealth({ clock, get = getText, lookAgain }: BridgeHealthDeps): BridgeHealthSource {
  const asked = new Map<string, Asked>()
  const takeTurn = createTurnstile(AT_ONCE)

  const askOne = async ({ component, port, path, read, address }: Asking & { readonly address: string }) => {
    try {
      const seen = read(await get(podUrl(address, port, path), AbortSignal.timeout(ANSWER_MS)))
      return seen && { component, ...seen }
    } catch {
      return undefined
    }
  }

  const askBest = async (unready: readonly UnreadyPod[]): Promise<BridgeHealth | undefined> => {
    let answer: BridgeHealth | undefined
    for (const asking of ASKED) {
      const pod = unready.find(({ component }) => component === asking.component)
      if (pod !== undefined) answer ??= await askOne({ ...asking, address: pod.address })
    }
    return answer
  }

  const ask = async (key: string, unready: readonly UnreadyPod[]): Promise<void> => {
    const answer = await takeTurn(async () => (asked.has(key) ? askBest(unready) : undefined))
    const before = asked.get(key)
    // Ready or gone meanwhile.
    if (before === undefined) return
    asked.set(key, { atMs: before.atMs, isUnderWay: false, ...(answer !== undefined && { seen: answer }) })
    const isNews = JSON.stringify(answer) !== JSON.stringify(before.seen)
    lookAgain(key, isNews ? 0 : AGAIN_MS)
  }

  return {
    look(key, pods) {
      const unready = pods.flatMap(unreadyPod).toSorted((a, b) => b.sinceMs - a.sinceMs)
      const nowMs = clock.nowMs()
      const found = unready.filter(({ sinceMs }) => isPatienceOver(nowMs - sinceMs))
      if (found.length === 0) {
        asked.delete(key)
        const [youngest] = unready
        if (youngest !== undefined) lookAgain(key, youngest.sinceMs + PATIENCE_MS - nowMs)
        return undefined
      }
      const last = asked.get(key)
      if (last === undefined || (!last.isUnderWay && monotonicMs(clock) - last.atMs >= AGAIN_MS)) {
        asked.set(key, { ...last, atMs: monotonicMs(clock), isUnderWay: true })
        void ask(key, found)
      }
      return last?.seen
    },
    forget: key => void asked.delete(key),
  }
}

/** A pod that is unready since a time to come tells it by a clock that differs from ours. Such a pod is asked now. */
function isPatienceOver(unreadyMs: number): boolean {
  return unreadyMs >= PATIENCE_MS || unreadyMs < -PATIENCE_MS
}

interface UnreadyPod {
  readonly component: string | undefined
  readonly address: string
  readonly sinceMs: number
}

function unreadyPod({ metadata, status }: Pod): readonly UnreadyPod[] {
  const ready = conditionOf({ status }, 'Ready')
  const component = metadata.labels?.['app.kubernetes.io/component']
  if (!ASKED.some(asking => asking.component === component) || metadata.deletionTimestamp !== undefined) return []
  if (status?.phase !== 'Running' || status.podIP === undefined || ready?.status !== 'False') return []
  return [{ component, address: status.podIP, sinceMs: Date.parse(ready.lastTransitionTime ?? '') || 0 }]
}

/** As far as it knows: one that has not begun yet tells of the bus alone. */
function readConnections(body: string): Connections | undefined {
  const { bus, search } = JSON.parse(body) as Readonly<Record<string, unknown>>
  const seen = { ...(typeof bus === 'string' && { bus }), ...(typeof search === 'string' && { search }) }
  return Object.keys(seen).length === 0 ? undefined : seen
}

/** The collector says that it is available while it can publish. */
function readCollector(body: string): Connections | undefined {
  const { status } = JSON.parse(body) as Readonly<Record<string, unknown>>
  if (status !== 'Server available' && status !== 'Server not available') return undefined
  return { bus: status === 'Server available' ? 'connected' : 'disconnected' }
}

const getText = (url: string, signal: AbortSignal) => askPod(url, signal, MAX_BODY_CHARACTERS)
