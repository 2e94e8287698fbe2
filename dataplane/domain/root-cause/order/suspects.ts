/** Puts services in the order of how likely an incident comes from them: the strongest evidence first, and of what is about as strong what explains the rest (Decisions 6). */

import type { Failures } from '../detectors/failures.ts'
import type { Findings, Hint, Nature } from '../findings.ts'
import { entryOf } from '../observed/entry-of.ts'
import type { ObservedPeriod, ObservedSystem } from '../observed/observed-system.ts'
import { findAwaited } from './awaited.ts'
import { type Callees, findCallees } from './callees.ts'
import { type CutOff, findCutOff } from './cut-off.ts'
import { findNewcomers } from './newcomers.ts'

/** Where two services are this close, the one comes first whose fault would explain the other's. */
const NEAR_TIE = 0.85
/** The most, as a part of the strongest, that it counts that requests end after the words of a service: not close to it. */
const MOST_OF_ENDS = 0.84
/** A service that falls silent explains errors that blame a callee, and comes before a new service, from this part of their strength on. */
const NEAR_BLAME = 0.5
/** A service that says why it fails explains the failures of others, which are louder, from this part of their strength on. */
const NEAR_CAUSE = 0.3
/** and from this part on where the stronger one says nothing itself: it is slow, or silent, or others complain of it; or it only complains, and the kernel killed the other one. */
const NEAR_CAUSE_OF_MUTE = 0.1
/** The strength from which on silence is no chance: however loud others complain, it explains who waits. */
const CLEAR = 1
/** The part of the strength of what a service does otherwise from which on its errors that say why explain it. */
const NEAR_CAUSE_OF: Readonly<Partial<Record<Nature, number>>> = { change: NEAR_TIE, broken: NEAR_BLAME }
/** Share of the strength of errors that changes beside the errors have at most. */
const BELOW_ERRORS = 0.95
/** Strength of a new service, and of its words, at most: less than what stands out. */
const MOST_OF_NEWCOMER = 0.9
/** Suspects whose order is looked at closely. */
const MAX_ARRANGED = 20

export interface ScaledFindings {
  readonly detector: string
  readonly findings: Findings
  readonly scale: number
}

export interface Suspect {
  readonly service: number
  readonly score: number
  /** The nature of its strongest evidence. */
  readonly nature: Nature
  /** Services for which this one waits, with the part of its strength from which on they explain it. */
  readonly awaited?: ReadonlyMap<number, number>
  /** From all detectors, with comparable strengths, the strongest first. */
  readonly hints: readonly { readonly hint: Hint; readonly strength: number }[]
}

/** Finds after whose words requests newly end, where that counts. */
export interface Ends {
  readonly find: () => Generator<void, Findings>
  readonly scale: number
}

/** Yields as `ends` do. */
export function* rankSuspects(
  found: readonly ScaledFindings[],
  system: ObservedSystem,
  failures: Failures,
  { ends, stopped = new Set() }: { readonly ends?: Ends; readonly stopped?: ReadonlySet<number> } = {},
): Generator<void, readonly Suspect[]> {
  const newcomers = findNewcomers(system)
  const byService = new Map<number, { score: number; hints: { hint: Hint; strength: number }[] }>()
  for (const { findings, scale } of found)
    for (const [service, { score, hints }] of findings) {
      const known = entryOf(byService, service, () => ({ score: 0, hints: [] }))
      const most = ({ nature }: Hint) => (isMerelyNew(nature) && newcomers.has(service) ? MOST_OF_NEWCOMER : Number.POSITIVE_INFINITY)
      known.score = Math.max(known.score, Math.min(score / scale, most(hints[0]!)))
      for (const hint of hints) known.hints.push({ hint, strength: Math.min(hint.strength / scale, most(hint)) })
    }
  const suspects = [...byService].map(([service, { score, hints }]): Suspect => {
    const sorted = hints.sort((a, b) => b.strength - a.strength)
    const nature = strongestNature(withoutNewErrorLines(sorted, failures, system))
    return { service, score, nature: natureAs(nature, failures.echoing.has(service), newcomers.has(service)), hints: sorted }
  })
  const isCutOff = cutOffAmong(suspects, system, failures)
  const awaited = findAwaited(suspects, system, { risen: failures.risen, isCutOff, stopped })
  // Those that wait complain of others.
  const waiting = (suspect: Suspect): Suspect => {
    const known = awaited.get(suspect.service)
    return known === undefined ? suspect : { ...suspect, nature: 'remote', awaited: known }
  }
  const ranked = belowErrors(suspects).map(waiting)
  return arrange(ends === undefined ? ranked : yield* withEnds(ranked, ends, system), system, isCutOff)
}

/** Services that are cut off, of the strongest alone: the order of others is not looked at. */
function cutOffAmong(suspects: readonly Suspect[], system: ObservedSystem, { risen }: Failures): CutOff {
  const strongest = suspects.toSorted((a, b) => b.score - a.score).slice(0, MAX_ARRANGED)
  const servicesOf = (are: (suspect: Suspect) => boolean) => new Set(strongest.filter(are).map(({ service }) => service))
  const services = servicesOf(({ hints }) => hints.some(({ hint }) => hint.isErrors === true))
  return findCutOff(system, { services, others: servicesOf(({ nature }) => nature === 'silence'), risen })
}

/**
 * Requests that break off without a word may be the fault of the service that would go on, or of the one after whose words they end. The latter comes
 * behind the strongest suspect, not close to it.
 */
function* withEnds(suspects: readonly Suspect[], { find, scale }: Ends, { baseline }: ObservedSystem): Generator<void, readonly Suspect[]> {
  const [strongest] = suspects.toSorted((a, b) => b.score - a.score)
  if (strongest?.nature !== 'broken' || strongest.hints.some(({ hint }) => hint.isErrors === true)) return suspects
  const findings = yield* find()
  const most = strongest.score * MOST_OF_ENDS
  const known = new Map(suspects.map(suspect => [suspect.service, suspect]))
  const goesOn = goingOn(baseline, strongest.service, new Set([...findings.values()].map(({ hints }) => hints[0]!.statement!)))
  for (const [service, { score, hints }] of findings) {
    if (!goesOn.has(hints[0]!.statement!)) continue
    const strength = Math.min(score / scale, most)
    const suspect = known.get(service)
    if (suspect !== undefined && suspect.score >= strength) continue
    const ending = hints.map(hint => ({ hint, strength: Math.min(hint.strength / scale, most) }))
    known.set(service, { ...suspect, service, score: strength, nature: 'broken', hints: [...ending, ...(suspect?.hints ?? [])] })
  }
  return [...known.values()]
}

/** The `statements` behind which a service speaks in most requests that hold them. */
function goingOn({ requests }: Pick<ObservedPeriod, 'requests'>, service: number, statements: ReadonlySet<number>): ReadonlySet<number> {
  const counts = new Map([...statements].map(id => [id, { held: 0, before: 0 }]))
  for (const { records } of requests) {
    const end = records.findLastIndex(({ kind }) => kind.service === service)
    const seen = new Set<number>()
    for (const [at, { kind }] of records.entries()) {
      const count = counts.get(kind.id)
      if (count === undefined || seen.has(kind.id)) continue
      seen.add(kind.id)
      count.held++
      if (at < end) count.before++
    }
  }
  return new Set([...counts].flatMap(([id, { held, before }]) => (2 * before > held ? [id] : [])))
}

/** Errors tell of their lines what is counted of these, which are new or come more often: a database speaks in requests by its errors alone. */
function withoutNewErrorLines(hints: Suspect['hints'], { risen }: Failures, { kinds }: ObservedSystem): Suspect['hints'] {
  if (!hints.some(({ hint }) => hint.isErrors === true && hint.isOwnWords === true)) return hints
  const isOfErrorLine = ({ nature, statement }: Hint) => nature === 'change' && statement !== undefined && risen.has(kinds[statement]!)
  return hints.filter(({ hint }) => !isOfErrorLine(hint))
}

/** The reason why a service fell silent, or is complained of, which it or the platform tells, counts before the silence and the complaints, which are louder; and new errors that tell why, before that they are new lines. */
function strongestNature(hints: Suspect['hints']): Nature {
  const [{ hint, strength: most }] = hints as [Suspect['hints'][number]]
  const isOfOthers = hint.nature === 'silence' || (hint.nature === 'fault' && hint.isErrors === true && hint.isOwnWords !== true)
  const least = isOfOthers ? NEAR_CAUSE_OF_MUTE : (NEAR_CAUSE_OF[hint.nature] ?? Number.POSITIVE_INFINITY)
  const isStalled =
    hint.nature !== 'cause' &&
    hint.isOwnWords !== true &&
    hints.some(({ hint, strength }) => hint.isStall === true && strength >= NEAR_CAUSE_OF_MUTE * most)
  if (isStalled) return 'cause'
  const isExplained = hints.some(({ hint, strength }) => hint.nature === 'cause' && strength >= least * most)
  return isExplained ? 'cause' : hint.nature
}

function natureAs(nature: Nature, isEchoing: boolean, isNew: boolean): Nature {
  if (nature === 'broken' && isEchoing) return 'remote'
  return isNew && isMerelyNew(nature) ? 'newcomer' : nature
}

const isMerelyNew = (nature: Nature) => nature === 'change' || nature === 'newcomer'

/** Services that do something else, or more, come after those that fail by new errors: a release or a burst beside a fault. New services come after any errors. */
function belowErrors(suspects: readonly Suspect[]): readonly Suspect[] {
  const errors = Math.max(
    0,
    ...suspects.flatMap(({ hints }) =>
      hints
        .filter(({ hint }) => hint.isErrors === true && (hint.nature === 'fault' || hint.nature === 'cause'))
        .map(({ strength }) => strength),
    ),
  )
  if (errors === 0) return suspects
  return suspects.map(suspect => {
    if (suspect.nature !== 'newcomer' && (errors < 1 || suspect.nature !== 'change')) return suspect
    return { ...suspect, score: Math.min(suspect.score, BELOW_ERRORS * errors) }
  })
}

/** The strongest first; of those that are close to it the one that explains the others. */
function arrange(suspects: readonly Suspect[], system: ObservedSystem, isCutOff: CutOff): readonly Suspect[] {
  const nameOf = ({ service }: Suspect) => system.services[service]!
  const left = [...suspects].sort((a, b) => b.score - a.score || (nameOf(a) < nameOf(b) ? -1 : 1))
  const callees = findCallees(system.baseline, system.services.length)
  const arranged: Suspect[] = []
  while (left.length > 0 && arranged.length < MAX_ARRANGED) {
    const close = left.slice(0, MAX_ARRANGED).filter(suspect => isClose(suspect, left[0]!, isCutOff))
    const first = close.find(suspect => !close.some(other => explains(other, suspect, { callees, isCutOff }))) ?? close[0]!
    const next = awaitedBefore(first, close, arranged)
    arranged.push(next)
    left.splice(left.indexOf(next), 1)
  }
  return [...arranged, ...left]
}

/**
 * A suspect that fails by itself stays first. Otherwise the first of the close suspects is one for which others of them wait, and the strongest follows
 * right behind the suspect for which it waits.
 */
function awaitedBefore(first: Suspect, close: readonly Suspect[], arranged: readonly Suspect[]): Suspect {
  if (first.nature === 'cause' || first.nature === 'fault') return first
  const [strongest = first] = close
  const waitsFor = ({ awaited }: Suspect, { service }: Suspect) => awaited?.has(service) === true
  const isAwaited = (suspect: Suspect) => close.some(other => waitsFor(other, suspect))
  if (isAwaited(first)) return first
  if (arranged.some(other => waitsFor(strongest, other))) return strongest
  return close.find(isAwaited) ?? first
}

const isKilled = ({ hints }: Suspect) => hints.some(({ hint }) => hint.isKill === true)

function isClose(suspect: Suspect, strongest: Suspect, isCutOff: CutOff): boolean {
  const near = strongest.awaited?.get(suspect.service)
  if (near !== undefined) return suspect.score >= Math.min(strongest.score * near, CLEAR)
  if (suspect.nature === 'cause' && strongest.nature !== 'cause') {
    const isMute = !strongest.hints.some(({ hint }) => hint.isOwnWords === true)
    // The kernel writes one line, and those who call the dead service write all the time.
    const isMourned = isKilled(suspect) && strongest.nature === 'remote'
    return suspect.score >= strongest.score * (isMute || isMourned ? NEAR_CAUSE_OF_MUTE : NEAR_CAUSE)
  }
  if (isKilled(suspect) && strongest.nature === 'cause' && !isKilled(strongest)) return suspect.score >= strongest.score * NEAR_CAUSE
  const isLess = strongest.nature === 'remote' || strongest.nature === 'newcomer'
  const mayExplain = suspect.nature === 'fault' || (suspect.nature === 'silence' && !isCutOff(strongest.service, suspect.service))
  const least = isLess && mayExplain ? NEAR_BLAME : NEAR_TIE
  return suspect.score >= strongest.score * least
}

/** Natures that explain more come first. */
const ORDER: Readonly<Record<Nature, number>> = { cause: -1, fault: 0, broken: 0, change: 1, silence: 2, remote: 3, newcomer: 3 }

/** Whether a fault in the first would show as what is seen of the second, which is about as strong. */
function explains(
  first: Suspect,
  second: Suspect,
  { callees, isCutOff }: { readonly callees: Callees; readonly isCutOff: CutOff },
): boolean {
  if (first.nature === 'silence' && isCutOff(second.service, first.service)) return false
  const order = ORDER[first.nature] - ORDER[second.nature]
  if (order !== 0) return order < 0
  // The platform restarts others beside the one that the kernel killed.
  if (isKilled(first) !== isKilled(second)) return isKilled(first)
  return first.nature === 'silence' ? callees.mayCall(first.service, second.service) : callees.calls(second.service, first.service)
}
