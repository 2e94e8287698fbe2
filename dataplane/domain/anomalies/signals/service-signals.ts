/** The signals of one service but silence: sums over its records in slots, judged each time that a slot is closed (Decisions 5). */
import { findingId, Habits, type IsUsual } from './habits.ts'
import { OpenVisits } from './open-visits.ts'
import { Pauses } from './pauses.ts'
import { type Matters, meanShift, type Shift, shareShift } from './shift.ts'
import { RECORDS_SHOWN, type SignalFields, type SignalFinding, type SignalName, SPEAKS, zOf } from './signal.ts'
import { baselineFrom, JUDGED_SLOTS, judgedFrom, MIN_BASELINE_SLOTS, SLOTS, SlotTable, slotOf } from './slots.ts'
import { OTHER, Statements } from './statements.ts'
import { describeDelay, describeErrors, describeMissing, describeProblemRate } from './wording.ts'

/** Series of a service; what comes beyond is not looked at. */
const MAX_SERIES = 256
/** A record this many slots ahead of the others, or older than what is kept, is a stray: it counts for nothing. */
const MAX_AHEAD = 10
/** Strays in a row from which on they are none: the service begins anew where they are. */
const MAX_STRAYS = 20

/** Smallest share of visits that must lack a statement, of those that had it before. */
const MIN_MISSING = 0.5
/** A problem that is new, or comes more often, must come so often in the judged minute. */
const MIN_PROBLEMS = 5
/** Deviations of its own that the mean pause must have grown by; share of the pauses that must be longer by a time that somebody notices. */
const MIN_SLOWER = 1
const MIN_NOTICED = 0.5

/** Something that is judged: sums, and the units that they are a share or a mean of. */
interface Subject {
  readonly kind: keyof typeof JUDGES
  readonly sums: number
  readonly units: number
  /** Pauses: how many were longer by a time that somebody notices. */
  readonly noticed?: number
  /** Statements: the first of the visit, or the one before; the one that is counted. */
  readonly from: number
  readonly to: number
  /** The id of what is found; absent: nothing was. */
  finding?: string
}

const NONE: readonly SignalFinding[] = []

interface Judge {
  readonly compare: typeof shareShift
  readonly matters: Matters
  readonly signalOf: (shift: Shift) => SignalName
  /** How much of it there is in the minute, and whether that is like the most that there was at such times before. */
  readonly sizeOf: (shift: Shift) => number
  readonly isLike: (size: number, largest: number) => boolean
}

const comesOften: Matters = {
  may: (now, of) => now * of >= MIN_PROBLEMS,
  does: ({ before, now }) => now > before,
}
const isMissing: Matters = {
  may: now => now < 1 - MIN_MISSING,
  does: ({ before, now }) => now < before * (1 - MIN_MISSING),
}
/** No mean lies below -1, the least that one pause counts. */
const isSlower: Matters = {
  may: now => now >= MIN_SLOWER - 1,
  does: ({ before, now }) => now - before >= MIN_SLOWER,
}

/** Counts differ by chance. */
const ofCounts = {
  sizeOf: ({ now, of }: Shift) => now * of,
  isLike: (size: number, largest: number) => size <= largest + 3 * Math.sqrt(largest),
}
const ofShares = { sizeOf: ({ now }: Shift) => 1 - now, isLike: (size: number, largest: number) => size <= largest + 0.1 }
const ofPauses = { sizeOf: ({ now }: Shift) => now, isLike: (size: number, largest: number) => size <= largest + MIN_SLOWER }

const JUDGES = {
  /** Visits that hold a statement, of those that begin with the same one. */
  inVisit: { compare: shareShift, matters: isMissing, signalOf: () => 'pattern rate', ...ofShares },
  /** Records of a statement of level WARN and above, of all records. */
  problem: {
    compare: shareShift,
    matters: comesOften,
    signalOf: ({ before }) => (before === 0 ? 'new pattern' : 'pattern rate'),
    ...ofCounts,
  },
  errors: { compare: shareShift, matters: comesOften, signalOf: () => 'error share', ...ofCounts },
  pause: { compare: meanShift, matters: isSlower, signalOf: () => 'delay', ...ofPauses },
} as const satisfies Record<string, Judge>

export class ServiceSignals {
  readonly #table = new SlotTable()
  readonly #statements = new Statements()
  readonly #pauses = new Pauses()
  readonly #records = this.#table.addSeries()
  readonly #errors = this.#table.addSeries()
  readonly #subjects: Subject[] = [{ kind: 'errors', sums: this.#errors, units: this.#records, from: OTHER, to: OTHER }]
  /** Series of visits by their first statement. */
  readonly #types = new Map<number, number>()
  /** By what is counted and its two statements; `undefined`: no room. */
  readonly #known = new Map<number, Subject | undefined>()
  readonly #pairs = new Map<number, number>()
  #visits: OpenVisits | undefined
  #open = Number.NaN
  #strays = 0
  #spoken: readonly SignalFinding[] = NONE
  /** Records that are still to show what spoke. */
  #shown = 0
  readonly #comesByHabit: IsUsual

  /** Default: habits that nobody keeps. */
  constructor(isUsual: IsUsual = new Habits().of(0, '/')) {
    this.#comesByHabit = isUsual
  }

  /** Memory that grows with what comes; what is the same for all services comes on top. */
  get bytes(): number {
    return this.#table.bytes + this.#pauses.bytes + (this.#visits === undefined ? 0 : OpenVisits.bytes) + 100 * this.#known.size
  }

  /** Takes in a record. The findings of the minute that it closes, each signal's strongest; mostly none. Undefined: a stray, which counts for nothing. */
  observe(record: SignalFields): readonly SignalFinding[] | undefined {
    const slot = slotOf(record.timeMs)
    if (!this.#isInTime(slot)) return undefined
    const findings = slot > this.#open ? this.#close(slot) : NONE
    const statement = this.#statements.numberOf(record.patternHash, record.pattern)
    this.#table.add(this.#records, slot, 1)
    // A line that came without a level is INFO: then its words may tell.
    const { saysError, saysWarning } = this.#statements
    const isInfo = record.level === 'INFO'
    if (isInfo ? saysError : record.level === 'ERROR' || record.level === 'FATAL') this.#table.add(this.#errors, slot, 1)
    if (!isInfo || saysError || saysWarning) this.#count('problem', statement, statement, slot, 1)
    if (record.visitHash !== 0) this.#visit(record, statement, slot)
    return findings.length > 0 ? this.#show(findings) : this.#shown > 0 ? this.#showAgain() : NONE
  }

  #show(findings: readonly SignalFinding[]): readonly SignalFinding[] {
    this.#spoken = findings.filter(({ z }) => z >= SPEAKS)
    this.#shown = this.#spoken.length === 0 ? 0 : RECORDS_SHOWN - 1
    return findings
  }

  #showAgain(): readonly SignalFinding[] {
    this.#shown--
    return this.#spoken
  }

  #isInTime(slot: number): boolean {
    if (Number.isNaN(this.#open)) this.#open = slot
    if (slot <= this.#open + MAX_AHEAD && slot > this.#open - SLOTS) {
      this.#strays = 0
      return true
    }
    if (++this.#strays < MAX_STRAYS) return false
    this.#strays = 0
    this.#table.open(slot - SLOTS, slot)
    this.#open = slot
    return true
  }

  #close(slot: number): readonly SignalFinding[] {
    this.#table.open(this.#open, slot)
    const isNear = slot - this.#open <= JUDGED_SLOTS
    this.#open = slot
    return isNear && this.#hasBaseline() ? this.#judge() : NONE
  }

  #hasBaseline(): boolean {
    let slots = 0
    for (let slot = baselineFrom(this.#open); slot < judgedFrom(this.#open); slot++) if (this.#table.at(this.#records, slot) > 0) slots++
    return slots >= MIN_BASELINE_SLOTS
  }

  #visit({ visitHash, timeMs, level }: SignalFields, statement: number, slot: number): void {
    this.#visits ??= new OpenVisits()
    const visit = this.#visits
    if (!visit.find(visitHash, timeMs)) {
      visit.begin(visitHash, timeMs, slot, statement)
      const type = this.#typeOf(statement)
      if (type !== undefined) this.#table.add(type, slot, 1)
      return
    }
    this.#pause(visit.last, statement, timeMs - visit.lastMs, slot)
    // Counts where the visit began, so that shares of a slot are shares of its visits.
    if (visit.see(statement) && level === 'INFO' && visit.slot > this.#open - SLOTS)
      this.#count('inVisit', visit.type, statement, visit.slot, 1)
    visit.goOn(timeMs, statement)
  }

  #pause(from: number, to: number, ms: number, slot: number): void {
    const key = keyOf('pause', from, to)
    let pair = this.#pairs.get(key)
    if (pair === undefined) {
      if (this.#pairs.size >= MAX_SERIES || from === OTHER || to === OTHER) return
      pair = this.#pauses.addPair()
      this.#pairs.set(key, pair)
    }
    const z = this.#pauses.judge(pair, ms)
    if (!Number.isNaN(z)) this.#count('pause', from, to, slot, z)
  }

  #count(kind: Subject['kind'], from: number, to: number, slot: number, amount: number): void {
    if (from === OTHER || to === OTHER) return
    const key = keyOf(kind, from, to)
    let subject = this.#known.get(key)
    if (subject === undefined) {
      if (this.#known.has(key)) return
      subject = this.#addSubject(kind, from, to)
      this.#known.set(key, subject)
      if (subject === undefined) return
    }
    this.#table.add(subject.sums, slot, amount)
    if (subject.noticed === undefined) return
    this.#table.add(subject.units, slot, 1)
    if (this.#pauses.isNoticed) this.#table.add(subject.noticed, slot, 1)
  }

  #addSubject(kind: Subject['kind'], from: number, to: number): Subject | undefined {
    if (this.#table.series + 3 > MAX_SERIES) return undefined
    const sums = this.#table.addSeries()
    const units = kind === 'pause' ? this.#table.addSeries() : kind === 'problem' ? this.#records : this.#types.get(from)
    if (units === undefined) return undefined
    const subject = { kind, sums, units, from, to, ...(kind === 'pause' && { noticed: this.#table.addSeries() }) }
    this.#subjects.push(subject)
    return subject
  }

  #typeOf(statement: number): number | undefined {
    let type = this.#types.get(statement)
    if (type === undefined && statement !== OTHER && this.#table.series < MAX_SERIES) {
      type = this.#table.addSeries()
      this.#types.set(statement, type)
    }
    return type
  }

  #judge(): readonly SignalFinding[] {
    const strongest = new Map<SignalName, { readonly strength: number; readonly subject: Subject; readonly shift: Shift }>()
    for (const subject of this.#subjects) {
      const { compare, matters, signalOf } = JUDGES[subject.kind]
      const shift = compare({ table: this.#table, sums: subject.sums, units: subject.units, open: this.#open }, matters)
      if (shift === undefined || !this.#isNoticed(subject, shift)) continue
      const signal = signalOf(shift)
      const strength = Math.abs(shift.strength)
      if (zOf(strength, this.#subjects.length) >= SPEAKS && this.#isUsual(subject, shift)) continue
      if (strength > (strongest.get(signal)?.strength ?? 0)) strongest.set(signal, { strength, subject, shift })
    }
    return [...strongest].map(([signal, { strength, subject, shift }]) => ({
      signal,
      z: zOf(strength, this.#subjects.length),
      text: this.#describe(subject, shift),
    }))
  }

  #isNoticed({ noticed }: Subject, { of }: Shift): boolean {
    return noticed === undefined || this.#table.sum(noticed, judgedFrom(this.#open), this.#open) >= MIN_NOTICED * of
  }

  #isUsual(subject: Subject, shift: Shift): boolean {
    const { sizeOf, isLike } = JUDGES[subject.kind]
    const { kind, from, to } = subject
    subject.finding ??= findingId(kind, this.#statements.wordsOf(from), this.#statements.wordsOf(to))
    return this.#comesByHabit(subject.finding, { slot: this.#open, size: sizeOf(shift), isLike })
  }

  #describe({ kind, from, to }: Subject, shift: Shift): string {
    const words = (statement: number) => this.#statements.wordsOf(statement)
    if (kind === 'errors') return describeErrors(shift)
    if (kind === 'problem') return describeProblemRate(words(to), shift)
    if (kind === 'inVisit') return describeMissing(words(to), words(from), shift)
    return describeDelay(words(from), words(to), shift)
  }
}

const KINDS = Object.keys(JUDGES) as readonly Subject['kind'][]
const KIND_NUMBERS = Object.fromEntries(KINDS.map((kind, number) => [kind, number])) as Record<Subject['kind'], number>

function keyOf(kind: Subject['kind'], from: number, to: number): number {
  return (KIND_NUMBERS[kind] << 16) | (from << 8) | to
}
