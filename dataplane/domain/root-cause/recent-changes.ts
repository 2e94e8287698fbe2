/**
 * Changes shortly before a failure: starts, releases, configuration, flags, migrations. Who is woken up asks for them first. That something changed
 * is no evidence: a change is told beside a cause, and moves none (Decisions 6).
 */
import { maskMessage } from '../records/pattern.ts'
import { wordsOfPattern } from '../records/pattern-words.ts'
import { lacksWords } from '../records/readable-text.ts'
import { wordsOfLine } from '../records/words-of-line.ts'
import { createFindNamed, type FindNamed } from './errors/named-service.ts'
import { entryOf } from './observed/entry-of.ts'
import type { Kind, ObservedRecord, ObservedSystem } from './observed/observed-system.ts'
import { createFindHost, type FindHost } from './observed/service-of-host.ts'
import { clockTime, quoted } from './wording.ts'

/** `leader`: another instance leads. */
export type ChangeNature = 'release' | 'configuration' | 'flag' | 'schema' | 'leader' | 'start' | 'stop'

export interface Change {
  readonly nature: ChangeNature
  /** The service that changed. */
  readonly service: number
  readonly timeMs: number
  /** Masked, but for versions. */
  readonly text: string
  readonly record: ObservedRecord
}

/** How long before a failure a change of the service itself is told, and one of another service. */
export const OWN_CHANGE_MS = 600_000
const OTHER_CHANGE_MS = 120_000
/** A service that starts has little to do with others that fail much later. */
const OTHER_START_MS = 60_000
/** Clocks differ. */
const AFTER_MS = 2_000
const MAX_TOLD = 2
/** Changes that come again are routine: a job that starts every few minutes. Those of one rollout come together. */
const TOGETHER_MS = 90_000
const ROUTINE_TIMES = 3
/** A line tells at its beginning what changed. */
const MAX_CHARACTERS = 200

const SUBJECT = '(?:[\\w./:@<>*-]{1,60} ){0,3}'
/** By the beginning of a line; the first that fits counts. */
const CHANGES: readonly (readonly [ChangeNature, RegExp])[] = [
  ['flag', new RegExp(`^${SUBJECT}(?:flags?|toggles?|experiment|variant)\\b.{0,60}\\b(?:chang|updat|enabl|disabl|turn|toggl|rolled)`, 'i')],
  ['schema', new RegExp(`^${SUBJECT}(?:migrating|migration|alter table)\\b`, 'i')],
  [
    'release',
    new RegExp(
      `^${SUBJECT}(?:scaled (?:up|down) replica ?set|sync operation|helm (?:upgrade|install)|rollout|rolled out|deploy(?:ed|ing|ment)\\b.{0,60}\\b(?:succeeded|complete|finished|updated)|deployed|upgrade[d]? (?:succeeded|complete|to)|releas(?:ed|ing) )`,
      'i',
    ),
  ],
  [
    'configuration',
    new RegExp(
      `^${SUBJECT}(?:(?:config(?:uration)?s?|settings|properties|credentials|secrets?|configmap|certificates?|keys|rules|polic(?:y|ies))\\b.{0,40}\\b(?:reload|chang|updat|appl(?:y|ied)|rotat|refresh|rolled back|revert)|(?:reload|appl|rotat)(?:ied|ed|ying|ing)\\b.{0,40}\\b(?:config|settings|properties|credentials|secret|certificate|keys|rules|polic)|received sighup)`,
      'i',
    ),
  ],
  ['leader', new RegExp(`^${SUBJECT}(?:stepping down|starting an election|elected|new leader|failover|promoted to|became leader)`, 'i')],
  [
    'start',
    new RegExp(
      `^(?:${SUBJECT}(?:re)?started(?: container|$)|(?:re)?start(?:ed|ing) [\\w.]{0,80}(?:Application|Server|Service|App)\\b|${SUBJECT}(?:is )?starting(?: up|$)|starting (?:up|server|service|application|worker|container|version)|server (?:initiali[sz]ed|start(?:ed|up)|running)|application start|ready to accept connections|${SUBJECT}(?:is )?ready (?:to accept|for) connections|database system is ready|now listening|serving (?:securely )?on\\b|listening (?:on|at|and)\\b|${SUBJECT}started on port|booting worker|starting main dispatch loop|waiting for connections|db loaded from disk|done loading rdb)`,
      'i',
    ),
  ],
  [
    'stop',
    new RegExp(
      `^(?:stopping container|(?:killing|evicted) (?:container|pod)\\b|${SUBJECT}(?:shutdown complete|(?:got|caught) (?:signal )?sigterm|sigterm received)|received (?:sigterm|signal:? (?:sigterm|terminated)|shutdown\\b|\\w{4,9} shutdown request)|database system is shut down|${SUBJECT}shutting down|graceful shutdown)`,
      'i',
    ),
  ],
]
/** Also the lines of requests: `HTTP GET /orders started`. */
const NO_CHANGE =
  /^(?:HTTP(?:\/[\d.<*>]{1,5})? )?(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) |\bno (?:changes?|migrations?)\b|up to date|unchanged|already|^(?:request|job|task|transaction|session|batch|backup|sync|import|export|stream|checkpoint|cycle|scan)\b/i

/** The change that a line of a log tells of; undefined for most. */
export function changeIn(line: string): ChangeNature | undefined {
  const words = wordsOfLine(wordsOfPattern(line) ?? line).slice(0, MAX_CHARACTERS)
  const found = CHANGES.find(([, pattern]) => pattern.test(words))
  return found === undefined || NO_CHANGE.test(words) ? undefined : found[0]
}

/** In the order of time, without what is routine. Yields every few ms. */
export function* findChanges({ services, kinds, baseline, window }: ObservedSystem): Generator<void, readonly Change[]> {
  const find = { named: createFindNamed(services), host: createFindHost(services) }
  const natures = new Map<Kind, ChangeNature | undefined>()
  for (const kind of kinds) {
    natures.set(kind, lacksWords(kind.pattern) && wordsOfPattern(kind.pattern) === undefined ? undefined : changeIn(kind.pattern))
    if (natures.size % 500 === 0) yield
  }
  const byStatement = new Map<string, Change[]>()
  let done = 0
  for (const { records } of [baseline, window])
    for (const record of records) {
      if (++done % 5_000 === 0) yield
      const { change } = record.source
      const nature = change === undefined ? natures.get(record.kind) : changeIn(change.text)
      if (nature === undefined || record.isError) continue
      const service = changedService(record, nature, find)
      if (service === undefined) continue
      const text = maskedBesideVersions(change?.text ?? record.kind.pattern)
      entryOf(byStatement, `${service} ${nature} ${maskMessage(text)}`, () => []).push({
        nature,
        service,
        timeMs: record.timeMs,
        text,
        record,
      })
    }
  return [...byStatement.values()]
    .filter(changes => !isRoutine(changes, baseline.firstMs))
    .flat()
    .sort((a, b) => a.timeMs - b.timeMs)
}

interface Find {
  readonly named: FindNamed
  readonly host: FindHost
}

/** The object of an event stands behind its words. */
const OBJECT = /: [A-Z][A-Za-z]{2,40} ([a-z0-9][\w.-]{0,252})$/
/** So does that of a line of the kubelet. */
const POD = /: pod (?:[\w.-]{1,253}\/)?([a-z0-9][\w.<*>-]{0,252})$/

/** A platform tells of others: one that names no service of the tenant tells nothing. */
function changedService({ kind, source: { change } }: ObservedRecord, nature: ChangeNature, find: Find): number | undefined {
  const [, pod] = POD.exec(change?.text ?? '') ?? []
  if (pod !== undefined || change?.isEvent === true) {
    const object = pod ?? OBJECT.exec(change!.text)?.[1]
    return object === undefined ? undefined : find.host(object)
  }
  return nature === 'release' ? (find.named(change?.whole ?? kind.pattern, kind.service) ?? kind.service) : kind.service
}

/** They come at several times apart; or all the time, since the baseline began: a rollout begins. Both in the order of time. */
function isRoutine(changes: readonly Change[], firstMs: number): boolean {
  const apart = changes.filter(({ timeMs }, at) => at === 0 || timeMs - changes[at - 1]!.timeMs > TOGETHER_MS).length
  if (apart >= ROUTINE_TIMES) return true
  const [first, last] = [changes[0]!.timeMs, changes.at(-1)!.timeMs]
  return first - firstMs <= TOGETHER_MS && last - first > (ROUTINE_TIMES - 1) * TOGETHER_MS
}

/** Changes to be told of a service that began to fail at `onsetMs`: its own first, then the latest, each nature once; in the order of time. */
export function changesBefore(changes: readonly Change[], service: number, onsetMs: number): readonly Change[] {
  const told = new Map<string, Change>()
  const before = changes.filter(({ timeMs }) => timeMs <= onsetMs + AFTER_MS && timeMs >= onsetMs - OWN_CHANGE_MS)
  const isNear = ({ nature, timeMs }: Change) =>
    timeMs >= onsetMs - (nature === 'start' || nature === 'stop' ? OTHER_START_MS : OTHER_CHANGE_MS)
  const own = before.filter(change => change.service === service).sort(byTelling)
  const others = before.filter(change => change.service !== service && isNear(change)).reverse()
  for (const change of [...own, ...others]) {
    // That a service stopped says no more than that it started.
    const key = `${change.service} ${change.nature === 'stop' ? 'start' : change.nature}`
    if (told.size < MAX_TOLD && !told.has(key)) told.set(key, change)
  }
  return [...told.values()].sort((a, b) => a.timeMs - b.timeMs)
}

/** Services that tell of their stop within a minute before the window, or in it. */
export function stoppedAround(changes: readonly Change[], atMs: number): ReadonlySet<number> {
  return new Set(changes.filter(({ nature, timeMs }) => nature === 'stop' && timeMs >= atMs - OTHER_START_MS).map(({ service }) => service))
}

const ORDER = Object.fromEntries(CHANGES.map(([nature], place) => [nature, place])) as Readonly<Record<ChangeNature, number>>
const namesVersion = (text: string) => text.search(VERSION) >= 0

/** The greater change first, then one that names a version, then the latest. */
function byTelling(a: Change, b: Change): number {
  return ORDER[a.nature] - ORDER[b.nature] || Number(namesVersion(b.text)) - Number(namesVersion(a.text)) || b.timeMs - a.timeMs
}

const SAYS: Readonly<Record<ChangeNature, (service: string) => string>> = {
  release: service => `${service} was released`,
  configuration: service => `${service} had its configuration changed`,
  flag: service => `${service} had a flag changed`,
  schema: service => `${service} changed a schema`,
  leader: service => `${service} changed its leader`,
  start: service => `${service} started`,
  stop: service => `${service} stopped`,
}

/** `checkout started at 12:00:01 UTC (“Started CheckoutApplication v2.14.0 in <*> seconds”)`. */
export function tellChange({ nature, service, timeMs, text }: Change, services: readonly string[]): string {
  return `${SAYS[nature](services[service]!)} at ${clockTime(timeMs)} (${quoted(text)})`
}

const VERSION = /(?<![\w.])v?\d{1,5}\.\d{1,5}\.\d{1,5}(?:-[\w.]{1,20})?(?![\w.]*\w)|(?<!\w)v\d{1,5}(?:\.\d{1,5})?(?!\w)/g
/** Stands for a version while the rest is masked; within quotes it is masked with them. */
const KEPT = '\uE000'

function maskedBesideVersions(text: string): string {
  const versions: string[] = []
  const masked = maskMessage(
    text.replaceAll(KEPT, '').replace(VERSION, version => {
      versions.push(version)
      return KEPT
    }),
  )
  // A version that was masked is gone: which of them, nobody knows.
  const kept = masked.split(KEPT).length - 1
  return kept === versions.length ? masked.replaceAll(KEPT, () => versions.shift()!) : masked.replaceAll(KEPT, '<*>')
}
