/** Which service is forgotten for a new one, where there is room for so many: a tenant with services without end costs no other tenant its own. */

/** Part of the room that one tenant may take while others need the rest. */
export const TENANT_SHARE = 0.75

/** The services of each tenant, by their keys `<tenant>/<service>`, the one longest silent first. */
export class RoomForTenants {
  readonly #keys = new Map<string, Set<string>>()

  /** A service is heard of: for the first time, or again. */
  hear(key: string): void {
    const tenant = tenantOf(key)
    const own = this.#keys.get(tenant)
    if (own === undefined) this.#keys.set(tenant, new Set([key]))
    else {
      own.delete(key)
      own.add(key)
    }
  }

  remove(key: string): void {
    const tenant = tenantOf(key)
    const own = this.#keys.get(tenant)
    own?.delete(key)
    if (own?.size === 0) this.#keys.delete(tenant)
  }

  /** The one that leaves for `key`: the service longest silent of all, or of the tenant of `key`, where that tenant has more than its share of `most`. */
  leavesFor(key: string, longestSilent: string, most: number): string {
    const tenant = tenantOf(key)
    const own = this.#keys.get(tenant)
    if (tenantOf(longestSilent) === tenant || own === undefined || own.size < TENANT_SHARE * most) return longestSilent
    for (const first of own) if (first !== key) return first
    return longestSilent
  }
}

function tenantOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}
