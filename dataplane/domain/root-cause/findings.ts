/** Findings of a detector: pieces of evidence, and for each service how strong they are (Decisions 6). */
import { entryOf } from './observed/entry-of.ts'
import type { ObservedRecord } from './observed/observed-system.ts'
import type { ReasonKind } from './root-cause.ts'

export interface CauseEvidence {
  readonly kind: ReasonKind
  /** In the detector's own measure; not negative. */
  readonly strength: number
  readonly text: string
  /** The service that wrote the records, where that is another one. */
  readonly speaker?: string
  readonly patternId?: string
  readonly count?: number
  readonly expected?: number
  /** Records of the window that show it, in the order of time; looked up for those that are told alone. */
  readonly samples: () => Iterable<ObservedRecord>
}

/**
 * The nature of evidence against a service. `cause`: something goes wrong in it, and its words say why (no space
 * left). `fault`: something goes wrong in it. `broken`: it does not end what it begins. `change`: it does something else, or more.
 * `silence`: less is heard of it, perhaps because others do not call it. `remote`: it complains of another one. `newcomer`: it was not there before.
 */
export type Nature = 'cause' | 'fault' | 'broken' | 'change' | 'silence' | 'remote' | 'newcomer'

/** The thing that a service waited for: the answer of another one, or a connection of a pool that others hold. */
export type Waiting = 'answer' | 'connection' | 'nothing'

/** Evidence before its words are put together: most of it is never told. */
export interface Hint {
  readonly service: number
  readonly strength: number
  /** One piece of evidence for each subject is told, the strongest. */
  readonly subject: number | string
  readonly nature: Nature
  /** Id of the statement that it is about. */
  readonly statement?: number
  /** Errors tell of it. */
  readonly isErrors?: boolean
  /** The kernel killed the service for its memory. */
  readonly isKill?: boolean
  /** New lines of the service itself that tell a state which lasts: an alarm of a broker. */
  readonly isLasting?: boolean
  /** Errors that the service itself writes, and that begin there. */
  readonly isOwnWords?: boolean
  /** Errors that tell why something failed, and not only that. */
  readonly namesReason?: boolean
  /** Warnings that the service did not write before. */
  readonly isWarning?: boolean
  /** Lines that tell that the service stood still: a pause of its collector. */
  readonly isStall?: boolean
  /** Errors that the service writes itself: what it waited for. Absent for others, and for those that say only that something failed. */
  readonly waits?: Waiting
  readonly tell: () => CauseEvidence
}

export interface ServiceFindings {
  /** In the detector's own measure; `score / scale` is comparable between detectors. */
  readonly score: number
  /** The strongest first. */
  readonly hints: readonly Hint[]
}

/** By service. */
export type Findings = ReadonlyMap<number, ServiceFindings>

const MAX_HINTS = 4
/** The most that it counts that a service is heard which was never heard before: below the scale, as it is no evidence of a fault. */
export const MAX_NEWCOMER = 4

/** Others' complaints are many and loud: what tells why a service fails leaves last. */
function leavesBefore(hint: Hint, other: Hint): boolean {
  const saysWhy = ({ isErrors, nature }: Hint) => isErrors === true && nature === 'cause'
  return saysWhy(hint) === saysWhy(other) ? hint.strength < other.strength : saysWhy(other)
}

const strongestOf = (hints: readonly Hint[]): Hint | undefined => hints.toSorted((a, b) => b.strength - a.strength)[0]

/** Collects hints: of each service those that say why it fails, its strongest new warning and error, and the strongest few, one for each subject. */
export class HintBoard {
  readonly #byService = new Map<number, Map<number | string, Hint>>()

  add(hint: Hint): void {
    const hints = entryOf(this.#byService, hint.service, () => new Map())
    const known = hints.get(hint.subject)
    if (known !== undefined && known.strength >= hint.strength) return
    hints.set(hint.subject, hint)
    if (hints.size <= MAX_HINTS) return
    const strongestThat = (is: (hint: Hint) => boolean) => strongestOf([...hints.values()].filter(is))
    const kept = [
      strongestThat(({ isWarning, isStall }) => isWarning === true || isStall === true),
      strongestThat(({ isOwnWords }) => isOwnWords === true),
    ]
    const least = [...hints.values()]
      .filter(each => !kept.includes(each))
      .reduce((weakest, each) => (leavesBefore(each, weakest) ? each : weakest))
    hints.delete(least.subject)
  }

  /** A service is as suspicious as its strongest hint, unless `scoreOf` says otherwise. */
  findings(scoreOf: (service: number, strongest: number) => number = (_, strongest) => strongest): Findings {
    const found = new Map<number, ServiceFindings>()
    for (const [service, bySubject] of this.#byService) {
      const hints = [...bySubject.values()].sort((a, b) => b.strength - a.strength)
      found.set(service, { score: scoreOf(service, hints[0]!.strength), hints })
    }
    return found
  }
}
