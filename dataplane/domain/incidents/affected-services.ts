/** How many affected services an incident names, and how many further ones it only counts. */
export const MAX_AFFECTED = 500
const MAX_FURTHER = 5_000

/** The affected services of an incident: the first ones are named, further ones are only counted. */
export class AffectedServices {
  readonly named = new Set<string>()
  /** Further services counted since the start; `#before` services were counted before a restart. */
  readonly #further = new Set<string>()
  readonly #before: number

  constructor(services: Iterable<string>, furtherBefore = 0) {
    this.#before = furtherBefore
    for (const service of services) this.add(service)
  }

  get further(): number {
    return this.#before + this.#further.size
  }

  has(service: string): boolean {
    return this.named.has(service) || this.#further.has(service)
  }

  /** Adds a service; true when the service was not known. */
  add(service: string): boolean {
    if (this.has(service)) return false
    if (this.named.size < MAX_AFFECTED) this.named.add(service)
    else if (this.#further.size < MAX_FURTHER) this.#further.add(service)
    else return false
    return true
  }
}
