/** How many analyses may be under way: each takes memory and the search store's time. */
import { HttpError } from '../../http/http-error.ts'

/** At once. */
const MAX_RUNNING = 2
/** Under way or waiting, of one tenant and in all. */
const MAX_OF_TENANT = 4
const MAX_IN_ALL = 32

/** Runs work when its turn comes, first come first served. */
export type InTurn = <T>(tenant: string, work: () => Promise<T>) => Promise<T>

/** The function rejects with `HttpError` 429 and `Retry-After` where too many wait already. */
export function createAnalysisTurns(): InTurn {
  const ofTenant = new Map<string, number>()
  const waiting: (() => void)[] = []
  let running = 0
  let inAll = 0
  return async (tenant, work) => {
    const own = ofTenant.get(tenant) ?? 0
    if (own >= MAX_OF_TENANT || inAll >= MAX_IN_ALL)
      throw new HttpError(429, own >= MAX_OF_TENANT ? `${own} analyses of this tenant are under way` : 'too many analyses are under way', {
        'retry-after': '1',
      })
    ofTenant.set(tenant, own + 1)
    inAll++
    try {
      // An analysis that ends hands its place to the next one.
      if (running >= MAX_RUNNING) await new Promise<void>(resolve => waiting.push(resolve))
      else running++
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    } finally {
      inAll--
      const left = ofTenant.get(tenant)! - 1
      if (left === 0) ofTenant.delete(tenant)
      else ofTenant.set(tenant, left)
    }
  }
}
