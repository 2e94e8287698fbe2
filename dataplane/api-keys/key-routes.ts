/** The routes of `/api/admin/api-keys`, which gateway and dashboard serve (Spec: API keys). */
import { z } from 'zod'
import { DEFAULT_TENANT } from '../contract/tenant-id.ts'
import { MAX_KEY_NAME_LENGTH, withoutKeys } from '../domain/api-keys/api-key.ts'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import type { Clock } from '../ports/clock.ts'
import { SearchStoreUnavailable } from '../ports/search-store.ts'
import { TRUST_MS } from './key-check.ts'
import { type ApiKeyStore, MAX_KEYS } from './key-store.ts'

export const API_KEYS_PATH = '/api/admin/api-keys'

export const KeyName = z
  .string({ error: 'expected text' })
  .trim()
  .min(1, { error: 'expected a name of at least 1 character' })
  .max(MAX_KEY_NAME_LENGTH, { error: `expected a name of at most ${MAX_KEY_NAME_LENGTH} characters` })

const NewKey = z.strictObject({ name: KeyName })
const KeyToRevoke = z.strictObject({ id: z.string().min(1).max(100) })

export interface KeyRoutesDeps {
  readonly keys: ApiKeyStore
  readonly clock: Pick<Clock, 'sleep'>
  /** Writes what is known of uses, before they are shown. */
  readonly flushUses?: () => Promise<void>
}

/** The routes act for the tenant of the request; a request without one, as through the keyless dashboard, acts for `default`. */
export function apiKeyRoutes({ keys, clock, flushUses }: KeyRoutesDeps): readonly Route[] {
  const routes: readonly Route[] = [
    route({
      method: 'GET',
      path: API_KEYS_PATH,
      async handle({ tenant = DEFAULT_TENANT }) {
        await flushUses?.()
        return { body: await keys.list(tenant) }
      },
    }),
    route({
      method: 'POST',
      path: API_KEYS_PATH,
      body: NewKey,
      async handle({ tenant = DEFAULT_TENANT, body: { name } }) {
        const created = await keys.create(tenant, name)
        if (created === undefined) throw new HttpError(409, `this tenant has ${MAX_KEYS} keys: revoke one first`)
        return { headers: { 'cache-control': 'no-store' }, body: created }
      },
    }),
    route({
      method: 'DELETE',
      path: API_KEYS_PATH,
      body: KeyToRevoke,
      async handle({ tenant = DEFAULT_TENANT, body: { id } }) {
        if (!(await keys.revoke(tenant, id))) throw new HttpError(404, `no such key: ${withoutKeys(id)}`)
        // A revoked key stops working at once (Spec: API keys). Gateways in other processes trust it for so long.
        await clock.sleep(TRUST_MS)
        return { body: { status: 'ok', revokedId: id } }
      },
    }),
  ]
  return routes.map(each => ({ ...each, handle: async request => Promise.resolve(each.handle(request)).catch(throwAsBackEnd) }))
}

/** To a proxy the search store is a back end (Spec: Errors). */
function throwAsBackEnd(error: unknown): never {
  if (!(error instanceof SearchStoreUnavailable)) throw error
  throw new HttpError(502, error.forCallers, {}, { cause: error })
}
