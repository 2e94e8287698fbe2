/** All signals of all services: bounded memory, the service longest silent leaves first (Decisions 5). */
import { RoomForTenants } from '../room-for-tenants.ts'
import { Habits } from './habits.ts'
import { ServiceSignals } from './service-signals.ts'
import { RECORDS_SHOWN, type SignalFields, type SignalFinding } from './signal.ts'
import { Company, createListener, type Listener } from './silence.ts'
import { slotOf } from './slots.ts'

/** A record of `enriched-logs` as it came. */
export interface SignalSource {
  /** `<tenant>/<service>`. */
  readonly key: string
  /** Default 0. */
  readonly partition?: number
}

export interface Silent<R> {
  /** The last records that were kept of it, oldest first. */
  readonly records: readonly R[]
  readonly finding: SignalFinding
}

/** Findings at a record. */
export interface Observed<R> {
  /** Findings of the record's own service. */
  readonly findings: readonly SignalFinding[]
  /** Other services of its tenant that have fallen silent. */
  readonly silent: readonly Silent<R>[]
}

/** Services with signals, and the memory of all of them. */
const MAX_SERVICES = 10_000
const MAX_BYTES = 128 * 1024 * 1024
/** Memory of a service before its first record, bytes, about. */
const BASE_BYTES = 3_000
/** A record kept is mostly smaller; larger ones are not kept. */
export const RECORD_BYTES = 4_096

interface Service<R> extends Listener {
  readonly signals: ServiceSignals
  readonly company: Company<Service<R>>
  readonly records: R[]
  /** The slot of the newest record kept. */
  keptSlot: number
  bytes: number
}

/** `R`: what is kept of a record. */
export class SignalEngine<S extends SignalSource, R> {
  /** The record to show for its service, should that fall silent; called seldom. */
  readonly #keepOf: (source: S) => R | undefined
  readonly #services = new Map<string, Service<R>>()
  readonly #room = new RoomForTenants()
  readonly #companies = new Map<string, Company<Service<R>>>()
  /** Habits outlive the services that are forgotten. */
  readonly habits = new Habits()
  #bytes = 0
  #lastKey = ''
  #last: Service<R> | undefined

  constructor(keep: (source: S) => R | undefined) {
    this.#keepOf = keep
  }

  get bytes(): number {
    return this.#bytes + this.habits.bytes
  }

  /** Undefined: nothing, as mostly. */
  observe(source: S, fields: SignalFields): Observed<R> | undefined {
    const service = this.#serviceOf(source)
    const findings = service.signals.observe(fields)
    if (findings === undefined) return undefined
    const slot = slotOf(fields.timeMs)
    const silent = service.company.hear(service, slot, fields.visitHash !== 0)
    if (slot > service.keptSlot) this.#keep(service, source, slot)
    if (findings.length === 0 && silent.length === 0) return undefined
    return { findings, silent: silent.map(({ member, finding }) => ({ records: member.records, finding })) }
  }

  #serviceOf({ key, partition = 0 }: S): Service<R> {
    if (key === this.#lastKey && this.#last !== undefined) return this.#last
    const known = this.#services.get(key)
    const service = known ?? this.#createService(key, partition)
    if (known !== undefined) this.#services.delete(key)
    this.#services.set(key, service)
    this.#room.hear(key)
    this.#lastKey = key
    this.#last = service
    return service
  }

  #createService(key: string, partition: number): Service<R> {
    if (this.#services.size >= MAX_SERVICES) this.#dropFor(key, MAX_SERVICES)
    const companyKey = `${key.slice(0, key.indexOf('/') + 1)}${partition}`
    const company = this.#companies.get(companyKey) ?? new Company<Service<R>>(companyKey)
    this.#companies.set(companyKey, company)
    const signals = new ServiceSignals(this.habits.of(partition, key))
    const service = { ...createListener(), signals, company, records: [], keptSlot: Number.NEGATIVE_INFINITY, bytes: BASE_BYTES }
    company.members.add(service)
    this.#bytes += BASE_BYTES
    return service
  }

  /** Once for each slot of a service: also the time to see what it takes. */
  #keep(service: Service<R>, source: S, slot: number): void {
    service.keptSlot = slot
    const record = this.#keepOf(source)
    if (record !== undefined) service.records.push(record)
    if (service.records.length > RECORDS_SHOWN) service.records.shift()
    this.#bytes -= service.bytes
    service.bytes = BASE_BYTES + service.signals.bytes + RECORDS_SHOWN * RECORD_BYTES
    this.#bytes += service.bytes
    while (this.#bytes > MAX_BYTES && this.#services.size > 1) this.#dropFor(source.key, this.#services.size)
  }

  /** `most`: the services that there is room for. */
  #dropFor(key: string, most: number): void {
    const [longestSilent] = this.#services.keys()
    if (longestSilent === undefined) return
    const leaving = this.#room.leavesFor(key, longestSilent, most)
    const service = this.#services.get(leaving)!
    this.#services.delete(leaving)
    this.#room.remove(leaving)
    service.company.members.delete(service)
    if (service.company.members.size === 0) this.#companies.delete(service.company.key)
    this.#bytes -= service.bytes
  }
}
