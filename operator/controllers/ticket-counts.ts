/**
 * Asks the ticketing agents of pipelines with routes what they have sent, at a slow pace, and keeps their last answers. Agents that did
 * not answer the last time are asked in rounds apart, so that nobody waits for them.
 */
import { TARGET_METRICS } from '../../dataplane/contract/counters.ts'
import { PORTS } from '../../dataplane/contract/roles.ts'
import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import { keyOf } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { Pod } from '../observed/foreign-kinds.ts'
import type { AgentCounts, TargetCounts } from '../observed/routes/dispatch-counts.ts'
import { askPod, podUrl } from './ask-pod.ts'
import { INSTANCE_INDEX, PODS, TICKETING_ROUTES } from './kinds.ts'
import { timestamp } from './tell-status.ts'

export interface TicketCountsDeps {
  readonly cache: Pick<ObjectCache, 'list' | 'byIndex'>
  readonly clock: Clock
  /** `GET` of a URL; resolves to the body. Default: over HTTP. */
  readonly get?: (url: string, signal: AbortSignal) => Promise<string>
  /** An answer says something new of the target of this route. */
  readonly onNews: (routeKey: string) => void
}

export interface TicketCounts {
  /** The last answers of the agents of a pipeline whose pods are there. */
  of(pipelineKey: string): readonly AgentCounts[]
  start(): void
  stop(): Promise<void>
}

const EVERY_MS = 15_000
/** Time for one answer. */
const ANSWER_MS = 2_000
/** Pods that are asked at once. */
const AT_ONCE = 16
const MAX_BODY_CHARACTERS = 2 * 1024 * 1024
/** Newest incidents that are looked through for the error of a target. */
const MAX_INCIDENTS = 10

/** Components with the port of the ticketing agent. */
const AGENTS: ReadonlySet<string | undefined> = new Set(['ticketing', 'standalone'])

export function createTicketCounts({ cache, clock, get = getText, onNews }: TicketCountsDeps): TicketCounts {
  /** By uid of the pod. */
  const answers = new Map<string, AgentCounts>()
  /** Uids of pods that did not answer the last time. */
  const silent = new Set<string>()
  const stopping = new AbortController()
  let asking: Promise<unknown> | undefined

  const agentsOf = (pipelineKey: string) => (cache.byIndex(PODS, INSTANCE_INDEX, pipelineKey) as readonly Pod[]).filter(isAgent)

  const ask = async (pod: Pod): Promise<AgentCounts | undefined> => {
    const fetchText = (path: string) =>
      get(podUrl(pod.status!.podIP!, PORTS.ticketing, path), AbortSignal.any([AbortSignal.timeout(ANSWER_MS), stopping.signal]))
    const before = answers.get(uidOf(pod))
    try {
      const counts = readCounts(pod.metadata.name, await fetchText('/metrics'))
      return { ...counts, targets: await explain(counts.targets, before?.targets, fetchText) }
    } catch {
      return undefined
    }
  }

  const round = async (ofSilent: boolean) => {
    const routes = (cache.list(TICKETING_ROUTES) as readonly TicketingRoute[]).filter(
      ({ spec, problems }) => problems === undefined && spec.enabled,
    )
    const pipelines = new Set(routes.flatMap(pipelineKeys))
    const pods = [...pipelines].flatMap(agentsOf)
    forgetAllBut(new Set(pods.map(uidOf)))
    const news = new Set<string>()
    const asked = pods.filter(pod => silent.has(uidOf(pod)) === ofSilent)
    await inTurns(asked, async pod => {
      const uid = uidOf(pod)
      const answer = await ask(pod)
      if (answer === undefined) silent.add(uid)
      else silent.delete(uid)
      if (answer === undefined) return
      const pipeline = pipelineOf(pod)
      for (const target of changedTargets(answers.get(uid), answer)) news.add(`${pipeline} ${target}`)
      if (!answers.has(uid)) news.add(`${pipeline} `)
      answers.set(uid, answer)
    })
    for (const route of routes) {
      const isConcerned = pipelineKeys(route).some(key => news.has(`${key} ${route.status?.target}`) || news.has(`${key} `))
      if (isConcerned) onNews(keyOf(route.metadata))
    }
  }

  const forgetAllBut = (uids: ReadonlySet<string>): void => {
    for (const uid of answers.keys()) if (!uids.has(uid)) answers.delete(uid)
    for (const uid of silent) if (!uids.has(uid)) silent.delete(uid)
  }

  const inTurns = async <T>(items: readonly T[], work: (item: T) => Promise<void>) => {
    const left = items.values()
    const worker = async () => {
      for (const item of left) if (!stopping.signal.aborted) await work(item)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  const keepAsking = async (ofSilent: boolean) => {
    while (!stopping.signal.aborted) {
      await round(ofSilent)
      await clock.sleep(EVERY_MS, stopping.signal)
    }
  }

  return {
    of: pipelineKey => agentsOf(pipelineKey).flatMap(pod => answers.get(uidOf(pod)) ?? []),
    start() {
      asking ??= Promise.all([keepAsking(false), keepAsking(true)])
    },
    async stop() {
      stopping.abort()
      await asking
    },
  }
}

function pipelineKeys({ metadata: { namespace = 'default' }, status }: TicketingRoute): readonly string[] {
  return (status?.pipelines ?? []).map(name => keyOf({ namespace, name }))
}

function pipelineOf({ metadata: { namespace = 'default', labels } }: Pod): string {
  return keyOf({ namespace, name: labels?.['app.kubernetes.io/instance'] ?? '' })
}

const uidOf = ({ metadata }: Pod) => metadata.uid ?? metadata.name

/** A pod that is being deleted is asked as long as it answers, since its last counts would be lost. */
function isAgent({ metadata, status }: Pod): boolean {
  return AGENTS.has(metadata.labels?.['app.kubernetes.io/component']) && status?.phase === 'Running' && status.podIP !== undefined
}

const FIELDS = [
  ['dispatched', TARGET_METRICS.dispatched.name, 1],
  ['failed', TARGET_METRICS.failed.name, 1],
  ['lastDispatchMs', TARGET_METRICS.lastDispatch.name, 1_000],
  ['lastFailureMs', TARGET_METRICS.lastFailure.name, 1_000],
] as const

/** The last time of a `Date`. */
const MAX_TIME_MS = 8.64e15

/** Reads the text format of metrics. Throws for any other. */
function readCounts(pod: string, text: string): AgentCounts {
  const [, started] = /^process_start_time_seconds (\S+)$/m.exec(text) ?? []
  const targets = new Map<string, TargetCounts>()
  for (const [, name, target = '', value] of text.matchAll(/^(logpipeline_ticketing_\w+)\{target="([a-z0-9:-]+)"\} (\S+)$/gm)) {
    const [field, , unit] = FIELDS.find(([, known]) => known === name) ?? []
    const figure = Math.round(Number(value) * (unit ?? 0))
    if (field === undefined || !Number.isSafeInteger(figure) || figure < 0 || (unit !== 1 && figure > MAX_TIME_MS)) continue
    targets.set(target, { ...(targets.get(target) ?? { dispatched: 0, failed: 0 }), [field]: figure })
  }
  if (started === undefined && !text.includes(TARGET_METRICS.dispatched.name)) throw new Error('expected metrics of a ticketing agent')
  return { pod, since: started === undefined ? '' : timestamp(Number(started) * 1_000), targets }
}

function changedTargets(before: AgentCounts | undefined, after: AgentCounts): readonly string[] {
  const isOther = before?.since !== after.since
  return [...after.targets].flatMap(([target, counts]) =>
    isOther || JSON.stringify(before?.targets.get(target)) !== JSON.stringify(counts) ? [target] : [],
  )
}

const isFailing = ({ lastDispatchMs = 0, lastFailureMs = 0 }: TargetCounts) => lastFailureMs > lastDispatchMs

/** With the errors of targets that fail, as the newest incidents have them. Metrics hold no texts. */
async function explain(
  targets: AgentCounts['targets'],
  before: AgentCounts['targets'] | undefined,
  fetchText: (path: string) => Promise<string>,
): Promise<AgentCounts['targets']> {
  const known = [...targets].map(([target, counts]) => {
    const old = before?.get(target)
    const isSame = old?.lastFailureMs === counts.lastFailureMs && old?.lastError !== undefined
    return [target, isSame && isFailing(counts) ? { ...counts, lastError: old.lastError } : counts] as const
  })
  if (!known.some(([, counts]) => isFailing(counts) && !('lastError' in counts))) return new Map(known)
  const errors = await fetchText(`/api/incidents?limit=${MAX_INCIDENTS}`)
    .then(readErrors)
    .catch(() => new Map<string, string>())
  return new Map(
    known.map(([target, counts]) => {
      const lastError = errors.get(target)
      return [target, isFailing(counts) && lastError !== undefined ? { ...counts, lastError } : counts] as const
    }),
  )
}

/** By target, the error of the newest incident that has one. */
function readErrors(body: string): ReadonlyMap<string, string> {
  const incidents = JSON.parse(body) as readonly { readonly dispatches?: Readonly<Record<string, { readonly lastError?: unknown }>> }[]
  const found = incidents.flatMap(({ dispatches = {} }) =>
    Object.entries(dispatches).flatMap(([target, { lastError }]) => (typeof lastError === 'string' ? [[target, lastError] as const] : [])),
  )
  return new Map(found.toReversed())
}

const getText = (url: string, signal: AbortSignal) => askPod(url, signal, MAX_BODY_CHARACTERS)
