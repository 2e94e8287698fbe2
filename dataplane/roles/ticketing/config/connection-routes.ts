/** Whether platforms and the model can be reached (Spec: POST /api/v1/test-connection, POST /api/v1/test-llm, GET /api/v1/llm-status). */
import { z } from 'zod'
import { isTargetId, TARGET_ID_RULE, type TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { configuredSecrets, secretsOfTarget } from '../../../domain/tickets/configured-secrets.ts'
import { redact } from '../../../domain/tickets/redact.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type Route, route } from '../../../http/route.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import { perMinute, TokenBucket } from '../../../limits/token-bucket.ts'
import { within } from '../../../pipeline/within.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ConnectionTest } from '../../../ports/incident-platform.ts'
import type { ModelProbe } from '../../../ports/model-probe.ts'
import { MODEL_CHANGE } from './change-model.ts'
import { type DraftDeps, modelToTest, NO_MODEL, targetToTest } from './drafts.ts'

export interface ConnectionTestDeps extends DraftDeps {
  readonly clock: Clock
  /** `secrets`: those that the message must not hold, beside the target's. */
  testPlatform(target: Target, signal: AbortSignal, secrets: readonly string[]): Promise<ConnectionTest>
  readonly models: ModelProbe
  /** A target of a tenant works with the settings that are stored. */
  readonly onMended: (tenant: string, targets: readonly TargetId[]) => void
}

const PLATFORM_TEST_MS = 10_000
const MODEL_TEST_MS = 30_000
const STATUS_MS = 10_000
/** Tests of one tenant: each goes out to an address that the caller chose. */
const MAX_TESTS_PER_MINUTE = 120
/** Tenants whose tests are counted. */
const MAX_COUNTED_TENANTS = 1_000

const CONNECTION = z.strictObject({
  platform: z.custom<TargetId>(id => typeof id === 'string' && isTargetId(id), `expected ${TARGET_ID_RULE}`),
  config: z.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'expected an object with fields of the platform').optional(),
})

export function connectionRoutes(deps: ConnectionTestDeps): readonly Route[] {
  const { clock, config, models, testPlatform, onMended } = deps
  const takeTest = limitTests(clock)
  return [
    route({
      method: 'POST',
      path: '/api/v1/test-connection',
      body: CONNECTION,
      async handle({ tenant = DEFAULT_TENANT, body: { platform, config: fields } }) {
        takeTest(tenant)
        const found = await targetToTest(deps, tenant, platform, fields)
        if (typeof found === 'string') return { body: { status: 'error', platform, message: found } }
        // Fields of the caller's choice may name a server of the caller's, whose guesses the masks would answer.
        const others = fields === undefined ? configuredSecrets(await config.load(tenant)) : []
        const { ok, message } = await within(clock, PLATFORM_TEST_MS, signal => testPlatform(found, signal, others), noAnswer(platform))
        if (ok && fields === undefined) onMended(tenant, [platform])
        return { body: { status: ok ? 'ok' : 'error', platform, message: redact(message, [...secretsOfTarget(found), ...others]) } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/test-llm',
      body: MODEL_CHANGE.optional(),
      async handle({ tenant = DEFAULT_TENANT, body = {} }) {
        takeTest(tenant)
        const { llm, problem } = await modelToTest(deps, tenant, body)
        const { ok, message } =
          problem === undefined
            ? await within(clock, MODEL_TEST_MS, signal => models.test(llm, signal), failedTest)
            : { ok: false, message: problem }
        const others = Object.keys(body).length === 0 ? configuredSecrets(await config.load(tenant)) : []
        const { provider, model } = llm
        return { body: { status: ok ? 'ok' : 'error', provider, model, message: redact(message, [llm.apiKey ?? '', ...others]) } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/llm-status',
      async handle({ tenant = DEFAULT_TENANT }) {
        const settings = await config.load(tenant)
        const { llm, llmProblem } = settings
        const { provider, model } = llm
        const known = provider === 'none' ? NO_MODEL : llmProblem
        const status =
          known === undefined
            ? await within(
                clock,
                STATUS_MS,
                signal => models.status(tenant, llm, signal),
                error => ({ available: false as const, error }),
              )
            : { available: false as const, error: known }
        if (status.available) return { body: { status: 'ok', provider, model, ...status } }
        const error = redact(status.error, configuredSecrets(settings))
        return { body: { status: 'degraded', provider, model, ...status, error } }
      },
    }),
  ]
}

const failedTest = (message: string): ConnectionTest => ({ ok: false, message })
const noAnswer = (platform: TargetId) => (message: string) =>
  failedTest(`${platform}: ${message}: check the address and the port, and whether a firewall is between`)

/** The function throws `HttpError` 429 where a tenant tests too often. */
function limitTests(clock: Clock): (tenant: string) => void {
  const allowances = new Map<string, TokenBucket>()
  return tenant => {
    const allowance = allowances.get(tenant) ?? new TokenBucket(perMinute(MAX_TESTS_PER_MINUTE), clock.nowMs())
    allowances.delete(tenant)
    if (allowances.size >= MAX_COUNTED_TENANTS) allowances.delete(allowances.keys().next().value!)
    allowances.set(tenant, allowance)
    if (allowance.takeUpTo(1, clock.nowMs()) === 0)
      throw new HttpError(429, `expected at most ${MAX_TESTS_PER_MINUTE} connection tests a minute`, { 'retry-after': '1' })
  }
}
