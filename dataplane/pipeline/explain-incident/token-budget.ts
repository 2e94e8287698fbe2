/** Tokens that a tenant may use in an hour. */

const HOUR_MS = 3_600_000
/** Tenants that are counted; further ones take the place of those that were seen first. */
const MAX_TENANTS = 1_000

interface Used {
  readonly hour: number
  tokens: number
}

export interface TokenBudget {
  /** Sets tokens aside; false where the hour has no room for them. */
  take(tenant: string, tokens: number, nowMs: number): boolean
  /** Corrects what was set aside by the tokens that were used. */
  settle(tenant: string, taken: number, used: number, nowMs: number): void
  isUsedUp(tenant: string, nowMs: number): boolean
}

/** Counts by hours of the clock. */
export function createTokenBudget(tokensPerHour: number): TokenBudget {
  const byTenant = new Map<string, Used>()
  const usedBy = (tenant: string, nowMs: number): Used => {
    const hour = Math.floor(nowMs / HOUR_MS)
    const known = byTenant.get(tenant)
    if (known?.hour === hour) return known
    const used = { hour, tokens: 0 }
    byTenant.delete(tenant)
    byTenant.set(tenant, used)
    if (byTenant.size > MAX_TENANTS) byTenant.delete(byTenant.keys().next().value!)
    return used
  }
  return {
    take(tenant, tokens, nowMs) {
      const used = usedBy(tenant, nowMs)
      if (used.tokens + tokens > tokensPerHour) return false
      used.tokens += tokens
      return true
    },
    settle(tenant, taken, used, nowMs) {
      const counted = usedBy(tenant, nowMs)
      counted.tokens = Math.max(0, counted.tokens + used - taken)
    },
    isUsedUp: (tenant, nowMs) => usedBy(tenant, nowMs).tokens >= tokensPerHour,
  }
}
