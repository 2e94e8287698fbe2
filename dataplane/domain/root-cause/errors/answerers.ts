/**
 * The service that answered, where an error tells a status alone and of nobody (`Request failed with status code 401`): the one other service that warns,
 * as it never did before, whenever such an error comes (Decisions 6).
 */
import { entryOf } from '../observed/entry-of.ts'
import type { Kind, ObservedRecord, ObservedSystem, TracedRequest } from '../observed/observed-system.ts'
import { waitsForOthers } from './read-error-words.ts'

/** Clocks differ. */
const NEAR_MS = 2_000
/** Share of the errors that have such a warning near, and most warnings for each error. */
const NEAR_SHARE = 0.8
const MOST_TIMES = 2
/** Services that may have answered. */
const MAX_WARNING = 20

export interface Answerers {
  /** The service that answered, of one that an error of a request comes from. */
  within(request: TracedRequest, error: ObservedRecord): number | undefined
  /** The same of errors without a request. */
  beside(service: number): number | undefined
}

/** `isAnswered`: the error tells that somebody answered, and not who. */
export function findAnswerers({ baseline, window }: ObservedSystem, isAnswered: (error: ObservedRecord) => boolean): Answerers {
  const warnings = newWarnings(window.records, baseline.records)
  const isNew = ({ kind }: ObservedRecord) => warnings.has(kind)
  let beside: ReadonlyMap<number, number> | undefined
  return {
    within: ({ records }, error) => {
      if (warnings.size === 0 || !isAnswered(error)) return undefined
      return onlyOne(records.filter(record => isNew(record) && record.kind.service !== error.kind.service).map(({ kind }) => kind.service))
    },
    beside: service => {
      if (warnings.size === 0) return undefined
      beside ??= matched(window.untraced.filter(isAnswered), window.untraced.filter(isNew))
      return beside.get(service)
    },
  }
}

/** Warnings that the window has and the time before has not, but for those by which a service tells that it waits. */
function newWarnings(window: readonly ObservedRecord[], baseline: readonly ObservedRecord[]): ReadonlySet<Kind> {
  const found = new Set(window.filter(({ kind }) => kind.isWarning).map(({ kind }) => kind))
  if (found.size === 0 || baseline.length === 0) return new Set()
  for (const { kind } of baseline) found.delete(kind)
  for (const kind of found) if (waitsForOthers(kind.pattern)) found.delete(kind)
  return found
}

function onlyOne(services: readonly number[]): number | undefined {
  const [first, ...others] = new Set(services)
  return others.length === 0 ? first : undefined
}

/** For each service with such errors the only other one that warns as often, near nearly all of them. Both in the order of time. */
function matched(errors: readonly ObservedRecord[], warnings: readonly ObservedRecord[]): ReadonlyMap<number, number> {
  const warned = [...timesByService(warnings)].slice(0, MAX_WARNING)
  const found = new Map<number, number>()
  for (const [service, times] of timesByService(errors)) {
    const isMatch = ([other, others]: readonly [number, readonly number[]]) =>
      other !== service &&
      others.length <= MOST_TIMES * times.length &&
      MOST_TIMES * others.length >= times.length &&
      countNear(times, others) >= NEAR_SHARE * times.length
    const answerer = onlyOne(warned.filter(isMatch).map(([other]) => other))
    if (answerer !== undefined) found.set(service, answerer)
  }
  return found
}

function timesByService(records: readonly ObservedRecord[]): ReadonlyMap<number, readonly number[]> {
  const times = new Map<number, number[]>()
  for (const { kind, timeMs } of records) entryOf(times, kind.service, () => []).push(timeMs)
  return times
}

/** How many of `times` have one of `others` near. */
function countNear(times: readonly number[], others: readonly number[]): number {
  let from = 0
  let count = 0
  for (const time of times) {
    while (from < others.length && others[from]! < time - NEAR_MS) from++
    if (from < others.length && others[from]! <= time + NEAR_MS) count++
  }
  return count
}
