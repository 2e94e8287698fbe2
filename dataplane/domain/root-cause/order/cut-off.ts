/**
 * Which services are silent because another one fails too early: requests reach them after words that it does not come to any more (Decisions 6). They are
 * not what it waits for, or complains of.
 */

import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedPeriod, ObservedRecord, ObservedSystem } from '../observed/observed-system.ts'

/** Whether the first service mostly fails before the words after which requests usually reach the other one. */
export type CutOff = (service: number, other: number) => boolean

/** Share of the words of a service before another one that are the same at least, where they tell anything. */
const SAME = 0.7
/** Share of its failing requests in which a service says such words at least, where it comes to them. */
const SAID = 0.5

/** `services` fail by errors of `risen`; `others` are silent. */
export function findCutOff(
  { baseline, window }: Pick<ObservedSystem, 'baseline' | 'window'>,
  {
    services,
    others,
    risen,
  }: { readonly services: ReadonlySet<number>; readonly others: ReadonlySet<number>; readonly risen: ReadonlySet<Kind> },
): CutOff {
  if (services.size === 0 || others.size === 0) return () => false
  const before = wordsBefore(baseline, services, others)
  const failing = countFailing(window, services, risen)
  return (service, other) => {
    const words = before.get(service)?.get(other)
    const count = failing.get(service)
    if (words === undefined || count === undefined) return false
    const [usual, often] = [...words].sort(([, a], [, b]) => b - a)[0]!
    const all = [...words.values()].reduce((sum, each) => sum + each, 0)
    return often >= SAME * all && (count.saying.get(usual) ?? 0) < SAID * count.failures
  }
}

/** By service and other service: the last statements of the first one before the other one is heard, with how often each is. */
type WordsBefore = Map<number, Map<number, Map<Kind, number>>>

function wordsBefore({ requests, untraced }: ObservedPeriod, services: ReadonlySet<number>, others: ReadonlySet<number>): WordsBefore {
  const words: WordsBefore = new Map()
  const note = (service: number, other: number, said: Kind) => {
    const ofService = entryOf<number, Map<number, Map<Kind, number>>>(words, service, () => new Map())
    const ofOther = entryOf<number, Map<Kind, number>>(ofService, other, () => new Map())
    ofOther.set(said, (ofOther.get(said) ?? 0) + 1)
  }
  const noteAll = (records: readonly ObservedRecord[]) => {
    // The last words before another one count once for it.
    const last = new Map<number, { readonly kind: Kind; readonly at: number }>()
    const heard = new Map<number, number>()
    for (const [at, { kind }] of records.entries()) {
      const { service } = kind
      if (others.has(service)) {
        for (const [speaker, said] of last)
          if (speaker !== service && said.at > (heard.get(service) ?? -1)) note(speaker, service, said.kind)
        heard.set(service, at)
      }
      if (services.has(service)) last.set(service, { kind, at })
    }
  }
  for (const { records } of requests) noteAll(records)
  noteAll(untraced)
  return words
}

interface Failing {
  /** Requests in which the service fails, and its errors without a request. */
  failures: number
  /** How many of them hold a statement of it before the error; records of it, of those without a request. */
  readonly saying: Map<Kind, number>
}

function countFailing(
  { requests, untraced }: ObservedPeriod,
  services: ReadonlySet<number>,
  risen: ReadonlySet<Kind>,
): ReadonlyMap<number, Failing> {
  const failing = new Map<number, Failing>()
  const of = (service: number) => entryOf<number, Failing>(failing, service, () => ({ failures: 0, saying: new Map() }))
  const says = ({ saying }: Failing, kind: Kind) => saying.set(kind, (saying.get(kind) ?? 0) + 1)
  for (const { hasErrors, records } of requests)
    for (const [service, kinds] of hasErrors ? saidBeforeErrors(records, services, risen) : []) {
      const count = of(service)
      count.failures++
      for (const kind of kinds) says(count, kind)
    }
  for (const { kind, isError } of untraced) {
    if (!services.has(kind.service)) continue
    if (!isError) says(of(kind.service), kind)
    else if (risen.has(kind)) of(kind.service).failures++
  }
  return failing
}

/** By service that fails in a request: what it says there before its first error. */
function saidBeforeErrors(
  records: readonly ObservedRecord[],
  services: ReadonlySet<number>,
  risen: ReadonlySet<Kind>,
): ReadonlyMap<number, ReadonlySet<Kind>> {
  const said = new Map<number, Set<Kind>>()
  const failed = new Map<number, ReadonlySet<Kind>>()
  for (const { kind, isError } of records) {
    if (!services.has(kind.service) || failed.has(kind.service)) continue
    const kinds = entryOf(said, kind.service, () => new Set())
    if (isError && risen.has(kind)) failed.set(kind.service, kinds)
    else kinds.add(kind)
  }
  return failed
}
