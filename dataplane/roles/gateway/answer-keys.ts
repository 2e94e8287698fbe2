/** Answers requests about a tenant's own API keys. */
import { apiKeyRoutes } from '../../api-keys/key-routes.ts'
import type { ApiKeyStore } from '../../api-keys/key-store.ts'
import { queryOf, readJsonBody, validate } from '../../http/control-request.ts'
import { HttpError } from '../../http/http-error.ts'
import { createTurns } from '../../limits/turns.ts'
import type { Clock } from '../../ports/clock.ts'
import { answerJson, methodNotAllowed, type TenantExchange } from '../../upstream/exchange.ts'

export interface AnswerKeysDeps {
  readonly keys: ApiKeyStore
  readonly clock: Clock
  /** Writes down when keys were used, so that the answer says so. */
  readonly flushUses: () => Promise<void>
}

/** A name or an id. */
const MAX_BODY_BYTES = 16 * 1024
/** Requests at work at a time: they share connections to the search store with the look-ups of keys, for which all other requests wait. */
const AT_ONCE = 16
/** Requests under way or waiting, in all and of one tenant. */
const MAX_REQUESTS = 512
const MAX_REQUESTS_OF_TENANT = 128

export function createAnswerKeys(deps: AnswerKeysDeps): (exchange: TenantExchange) => Promise<void> {
  const routes = apiKeyRoutes(deps)
  const turns = createTurns({ running: AT_ONCE, inAll: MAX_REQUESTS, ofOwner: MAX_REQUESTS_OF_TENANT })
  return async ({ request, response, owner: { tenant }, path }) => {
    const route = routes.find(({ method }) => method === request.method)
    if (route === undefined) throw methodNotAllowed(request.method, routes.map(({ method }) => method).join(', '))
    const [name] = Object.keys(queryOf({ url: path.search } as typeof request, []))
    if (name !== undefined) throw new HttpError(400, `${name}: unknown field`)
    const sent = await readJsonBody(request, MAX_BODY_BYTES)
    if (route.body === undefined && sent !== undefined) throw new HttpError(400, 'body: expected none')
    const body = route.body === undefined ? undefined : validate(route.body, sent, 'body')
    const handled = turns.take(tenant, async () => route.handle({ headers: request.headers, params: {}, query: undefined, body, tenant }))
    if (handled === undefined)
      throw new HttpError(429, 'too many requests about API keys are under way; try again later', { 'retry-after': '1' })
    const { status = 200, headers, body: answer } = await handled
    answerJson(response, status, answer, headers)
  }
}
