/** Reads the error statements of a system: the other service that each means, and whether it complains of another one (Decisions 6). */
import { asksForBlame } from '../../language-model/orders.ts'
import { withoutHead } from '../../records/line-head.ts'
import { maskMessage } from '../../records/pattern.ts'
import type { Waiting } from '../findings.ts'
import { createFindCalled, createHasSystem } from '../observed/called-service.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { Kind } from '../observed/observed-system.ts'
import { createFindHost, type FindHost } from '../observed/service-of-host.ts'
import { createFindNamed } from './named-service.ts'
import { findQuoted } from './quoted-errors.ts'
import {
  asksWrongly,
  type ErrorSense,
  type ErrorWords,
  killedProcess,
  MAX_PROCESS_NAME,
  maskBesideStatus,
  readErrorWords,
  refusesLogin,
  tellsNothing,
  tellsOomKill,
  tellsRestarts,
  tellsWorkerKill,
  withOpenReasons,
} from './read-error-words.ts'

export interface ErrorReader {
  /** The service that is meant instead of the one that wrote it; undefined: none, or nobody knows. */
  named(kind: Kind): number | undefined
  senseOf(kind: Kind): ErrorSense
  /** Somebody answered with a status of failure, and nothing tells who. */
  isAnswered(kind: Kind): boolean
  /** The name that it could not resolve; undefined for other errors, and where it does not tell. */
  unresolvedNameOf(kind: Kind): string | undefined
  /** The thing that its service waited for, where it does not tell whose; undefined where it names another service, or tells nothing but that something failed. */
  waits(kind: Kind): Waiting | undefined
  /** Complains of another service, or says nothing but that something failed, where another service says more. */
  isRemote(kind: Kind): boolean
  /**
   * The error that a request began with, out of its errors in the order of time: one with a cause of its own before those that only complain, since
   * clocks differ; then the first that tells anything.
   */
  beginningOf<T extends { readonly kind: Kind }>(errors: readonly T[]): T | undefined
  /** For people and models: masked, as patterns are, but for quoted reasons. */
  textOf(kind: Kind): string
}

/** Clocks differ. */
const CLOCKS_MS = 2_000

/** Characters of a message in which orders to its readers are looked for. */
const MAX_ORDERS = 400

interface ReadKind {
  readonly sense: ErrorSense
  readonly unresolvedName?: string | undefined
  readonly waits?: Waiting
  readonly isAnswered?: boolean
  readonly named: number | undefined
}

const NAME_SERVICE = /dns/i

const isFaultOfClient = (text: string) => refusesLogin(text) || asksWrongly(text)

/** `firstMs`: when an error came first, ms since the epoch; infinite where nobody knows. */
export function readErrors(
  services: readonly string[],
  kinds: Iterable<Kind>,
  firstMs: (kind: Kind) => number = () => Number.POSITIVE_INFINITY,
): ErrorReader {
  const all = [...kinds]
  const { repeats, onlyRefused } = findRepeats(all)
  const findHost = createFindHost(services)
  const findCalled = createFindCalled(services, findHost)
  const hasSystem = createHasSystem(services)
  const isNameService = (service: number) => NAME_SERVICE.test(services[service]!)
  const namedBy = createNamedBy(services, findHost)
  const findProcess = createFindProcess(services)
  const killedBefore = createKilledBefore(all, kind => readOnce(kind).named, firstMs)
  let ownKills: ReadonlySet<number> | undefined
  /** The only service, beside the speaker, that tells itself that a process of its own was killed. */
  const saysItself = (speaker: number): number | undefined => {
    ownKills ??= new Set(all.filter(kind => textsOf(kind).some(tellsWorkerKill)).map(({ service }) => service))
    const [service, ...others] = ownKills
    return others.length === 0 && service !== speaker ? service : undefined
  }

  /** The service that a kind complains of, by its attributes, and the system that its words name. */
  const calledBy = (kind: Kind, words: readonly ErrorWords[]) => {
    const system = words.find(each => each.system !== undefined)?.system
    const ofAttributes = mostOf(kind.called.map(each => findCalled(each, kind.service)))
    const ofSystem = () =>
      system === undefined ? undefined : findCalled({ hosts: [], rpc: undefined, system, isStore: true }, kind.service)
    return { system, called: ofAttributes ?? ofSystem() }
  }

  /** An error that another service made: by what a client asked wrongly, or as one that is passed on. */
  const readForeign = (kind: Kind, texts: readonly string[]): ReadKind | undefined => {
    const repeated = repeats.get(kind)
    if (texts.some(isFaultOfClient)) {
      const client = onlyRefused(kind.service)
      if (client !== undefined) return { sense: 'callee', named: client }
      if (repeated !== undefined && onlyRefused(repeated) === kind.service) return { sense: 'own', named: undefined }
    }
    return repeated === undefined ? undefined : { sense: 'callee', named: repeated }
  }

  const read = (kind: Kind): ReadKind => {
    const texts = textsOf(kind)
    const isOfStore = kind.called.some(({ isStore }) => isStore)
    const words = texts.map(text => readErrorWords(text, isOfStore))
    const first = words.find(each => each.sense !== 'vague') ?? words[0]!
    // Else the writer of a log line would choose the cause.
    if (texts.some(text => asksForBlame(text.slice(0, MAX_ORDERS)))) return { sense: first.sense, named: undefined }
    const foreign = readForeign(kind, texts)
    if (foreign !== undefined) return foreign
    const { system, called } = calledBy(kind, words)
    const killed = () =>
      texts.some(tellsOomKill) ? (findProcess(texts, kind.service) ?? killedBefore(kind) ?? saysItself(kind.service)) : undefined
    const named = words.map(each => namedBy(each, kind.service, called)).find(service => service !== undefined) ?? killed()
    const sense = words.find(each => each.sense === 'own')?.sense ?? first.sense
    // Attributes say of whom it complains.
    if ((sense === 'vague' || (sense === 'plain' && system !== undefined)) && named !== undefined && named === called)
      return { sense: 'callee', named }
    const { unresolvedName } = first
    if (named !== undefined) return { sense, named, unresolvedName }
    // The service that asks for a name that nobody answers for is as near to the fault as one gets, as with a site of others.
    const isOfOthers =
      (system !== undefined && !hasSystem(system)) ||
      words.some(each => each.isUnresolved || each.isOfCloud || isOfStranger(each)) ||
      kind.called.some(({ hosts }) => hosts.some(isStranger))
    if (isOfOthers) return { sense: sense === 'callee' ? 'plain' : sense, named, unresolvedName }
    const isUnanswered =
      !isNameService(kind.service) &&
      (sense === 'callee' || words.some(each => each.refusesPeer) || (sense === 'plain' && first.isUnanswered && kind.called.length === 0))
    return {
      sense,
      named,
      unresolvedName,
      isAnswered: first.isAnswered && sense === 'callee',
      waits: waitingOf(first, isUnanswered),
    }
  }

  const known = new Map<Kind, ReadKind>()
  const readOnce = (kind: Kind): ReadKind => entryOf(known, kind, () => read(kind))

  let telling: ReadonlySet<number> | undefined
  const othersTell = (service: number) => {
    telling ??= new Set(all.filter(kind => readOnce(kind).sense !== 'vague').map(kind => kind.service))
    return telling.size > (telling.has(service) ? 1 : 0)
  }

  return {
    named: kind => readOnce(kind).named,
    senseOf: kind => readOnce(kind).sense,
    waits: kind => {
      const { sense, named, waits } = readOnce(kind)
      return sense === 'vague' || named !== undefined ? undefined : (waits ?? 'nothing')
    },
    isAnswered: kind => readOnce(kind).isAnswered === true,
    unresolvedNameOf: kind => readOnce(kind).unresolvedName,
    isRemote: kind => readOnce(kind).sense === 'callee' || (readOnce(kind).sense === 'vague' && othersTell(kind.service)),
    beginningOf: errors => findBeginning(errors, readOnce),
    textOf,
  }
}

/** Brokers are called by nobody in a request. */
function waitingOf({ isPoolEmpty, isAnswered, isOfSending }: ErrorWords, isUnanswered: boolean): Waiting {
  if (isPoolEmpty) return 'connection'
  if (isAnswered || !isUnanswered) return 'nothing'
  return isOfSending ? 'connection' : 'answer'
}

/** The service by whose name the process went that the kernel killed: whole, or as much of it as the kernel keeps, of one service alone. */
function createFindProcess(services: readonly string[]) {
  const names = services.map(name => name.toLowerCase())
  return (texts: readonly string[], speaker: number): number | undefined => {
    const process = texts
      .map(killedProcess)
      .find(name => name !== undefined)
      ?.toLowerCase()
    if (process === undefined) return undefined
    const isCut = process.length === MAX_PROCESS_NAME
    const whole = names.indexOf(process)
    const found = whole >= 0 ? [whole] : names.flatMap((name, service) => (isCut && name.startsWith(process) ? [service] : []))
    return found.length === 1 && found[0] !== speaker ? found[0] : undefined
  }
}

/**
 * Finds the service that the kernel killed: the only one that the platform restarts, of several the first. Those beside it fail because of it, or
 * are moved. `namedIn` tells which service an error names.
 */
function createKilledBefore(kinds: readonly Kind[], namedIn: (kind: Kind) => number | undefined, firstMs: (kind: Kind) => number) {
  let restarts: readonly (readonly [service: number, ms: number])[] | undefined
  return (kill: Kind): number | undefined => {
    restarts ??= kinds.flatMap(kind => {
      const named = textsOf(kind).some(tellsRestarts) ? namedIn(kind) : undefined
      return named === undefined ? [] : [[named, firstMs(kind)] as const]
    })
    if (new Set(restarts.map(([service]) => service)).size <= 1) return restarts[0]?.[0]
    const [first, second] = [...Map.groupBy(restarts, ([service]) => service)]
      .map(([service, times]) => ({ service, ms: Math.min(...times.map(([, ms]) => ms).filter(ms => ms >= firstMs(kill) - CLOCKS_MS)) }))
      .sort((a, b) => a.ms - b.ms)
    return first!.ms + CLOCKS_MS < second!.ms ? first!.service : undefined
  }
}

/** The error that a request began with: `ErrorReader.beginningOf`. */
function findBeginning<T extends { readonly kind: Kind }>(errors: readonly T[], read: (kind: Kind) => ReadKind): T | undefined {
  const own = errors.find(({ kind }) => read(kind).sense === 'own' && read(kind).named === undefined)
  if (own !== undefined) return own
  const firstTelling = (among: readonly T[]) => among.find(({ kind }) => read(kind).sense !== 'vague')
  let last = firstTelling(errors)
  if (last === undefined) return errors[0]
  // Along the chain of who names whom: clocks differ, and who waits longest may write first.
  const seen = new Set([last.kind.service])
  for (;;) {
    const { named } = read(last.kind)
    if (named === undefined || seen.has(named)) return last
    seen.add(named)
    const next = firstTelling(errors.filter(({ kind }) => kind.service === named))
    if (next === undefined) return last
    last = next
  }
}

/** Errors that quote what another service said, and who alone is refused. */
function findRepeats(kinds: readonly Kind[]) {
  const said = kinds.flatMap(kind => textsOf(kind).map(text => ({ kind, service: kind.service, text })))
  // An error that holds no more than the words of any error repeats nobody.
  const quoted = findQuoted(said.map(each => (tellsNothing(each.text) ? { ...each, text: '' } : each)))
  const repeats = new Map<Kind, number>()
  /** Services that pass on that a server does not let them in, or does not know what they ask for, by the server. */
  const refused = new Map<number, Set<number>>()
  for (const [at, { kind, text }] of said.entries()) {
    const service = quoted[at]
    if (service === undefined) continue
    if (!repeats.has(kind)) repeats.set(kind, service)
    if (isFaultOfClient(text)) entryOf(refused, service, () => new Set()).add(kind.service)
  }
  /** The only service that is not let in has the wrong password, and the only one whose column is not there asks for a wrong one; where several are, it is the server. */
  const onlyRefused = (server: number) => {
    const [client, ...others] = refused.get(server) ?? []
    return others.length === 0 ? client : undefined
  }
  return { repeats, onlyRefused }
}

/** The service that the words of an error mean, said by `speaker`; `called`: the one that attributes name. */
type NamedBy = (words: ErrorWords, speaker: number, called: number | undefined) => number | undefined

function createNamedBy(services: readonly string[], findHost: FindHost): NamedBy {
  const findNamed = createFindNamed(services)
  const nameService = services.findIndex(name => NAME_SERVICE.test(name))
  return ({ sense, hosts, isUnresolved, isLookupUnanswered, refusesPeer, isOfNearEnd, withoutCallers }, speaker, called) => {
    if (isOfNearEnd) return undefined
    // The names that a name service looked up are not at fault.
    const findWord = () => (speaker === nameService ? undefined : findNamed(withoutCallers, speaker))
    if (isUnresolved) {
      if (nameService >= 0 && nameService !== speaker) return nameService
      // A service whose name nobody has any more is gone.
      return isLookupUnanswered ? findNamed(withoutNames(withoutCallers, hosts), speaker) : findWord()
    }
    for (const host of hosts) {
      const service = findHost(host)
      if (service !== undefined && service !== speaker) return service
    }
    // It says why, of the other end.
    return sense === 'own' && !refusesPeer ? undefined : (called ?? findWord())
  }
}

/** The words of a statement for people and models: of what was read of its records, masked as patterns are, but for quoted reasons; else its pattern. */
export function textOf({ errorTexts: [text], pattern }: Pick<Kind, 'errorTexts' | 'pattern'>): string {
  return text === undefined ? pattern : maskBesideStatus(withOpenReasons(text), maskMessage)
}

/** The one that comes most often, the first of as many; undefined where that comes most often. */
function mostOf(services: readonly (number | undefined)[]): number | undefined {
  const groups = [...Map.groupBy(services, service => service)].sort(([, one], [, other]) => other.length - one.length)
  return groups[0]?.[0]
}

const withoutNames = (text: string, names: readonly string[]): string =>
  names.reduce((left, name) => left.replaceAll(name, ' '), text.toLowerCase())

/** Names that are known within a network only. */
const WITHIN = /\.(?:svc|local|localdomain|internal|intern|intranet|lan|corp|home)$/

/** Complains of a site that others run: who wrote it is as near to the fault as one gets. */
function isOfStranger({ sites }: ErrorWords): boolean {
  return sites.some(isStranger)
}

const isStranger = (host: string) => host.includes('.') && !WITHIN.test(host)

function textsOf({ errorTexts, pattern }: Kind): readonly string[] {
  return (errorTexts.length === 0 ? [pattern] : errorTexts).map(withoutHead)
}
