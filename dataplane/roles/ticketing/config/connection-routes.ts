/** Whether platforms and the model can be reached (Spec: POST /api/v1/test-connection, POST /api/v1/test-llm, GET /api/v1/llm-status). */
import { z } from 'zod'
import { isTargetId, parseTargetId, TARGET_ID_RULE, type TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { changePlatforms, isMap, type StoredTarget } from '../../../domain/tickets/change-platforms.ts'
import type { FieldRules } from '../../../domain/tickets/platform-field.ts'
import type { Target } from '../../../domain/tickets/target.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type Route, route } from '../../../http/route.ts'
import { MinuteAllowance } from '../../../limits/minute-allowance.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ConnectionTest } from '../../../ports/incident-platform.ts'
import type { LlmConfig } from '../../../ports/language-model.ts'
import type { ModelProbe } from '../../../ports/model-probe.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'
import { changeModel, MODEL_CHANGE, type ModelChange } from './change-model.ts'
import { assertSound } from './refusals.ts'
import type { SecretCipher } from './secret-cipher.ts'
import { readSections } from './stored-sections.ts'

export interface ConnectionDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly cipher: SecretCipher
  readonly config: TicketingConfigSource
  readonly allowsPrivateTargets: boolean
  testPlatform(target: Target, signal: AbortSignal): Promise<ConnectionTest>
  readonly models: ModelProbe
}

/** Of one platform. */
const PLATFORM_TEST_MS = 10_000
const MODEL_TEST_MS = 30_000
const STATUS_MS = 10_000
/** Of a tenant: each goes out to an address that the caller chose. */
const MAX_TESTS_PER_MINUTE = 30
/** Tenants whose tests are counted. */
const MAX_COUNTED_TENANTS = 1_000

const CONNECTION = z.strictObject({
  platform: z.custom<TargetId>(id => typeof id === 'string' && isTargetId(id), `expected ${TARGET_ID_RULE}`),
  config: z.custom<Readonly<Record<string, unknown>>>(isMap, 'expected an object with fields of the platform').optional(),
})

const NO_MODEL = 'no provider configured'

export function connectionRoutes(deps: ConnectionDeps): readonly Route[] {
  const { clock, config, models, testPlatform } = deps
  const takeTest = limitTests(clock)
  return [
    route({
      method: 'POST',
      path: '/api/v1/test-connection',
      body: CONNECTION,
      async handle({ tenant = DEFAULT_TENANT, body: { platform, config: fields } }) {
        takeTest(tenant)
        const found = fields === undefined ? await configured(config, tenant, platform) : await drafted(deps, tenant, platform, fields)
        const { ok, message } =
          typeof found === 'string'
            ? { ok: false, message: found }
            : await within(clock, PLATFORM_TEST_MS, signal => testPlatform(found, signal), failedTest)
        return { body: { status: ok ? 'ok' : 'error', platform, message } }
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
        return { body: { status: ok ? 'ok' : 'error', provider: llm.provider, model: llm.model, message } }
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/llm-status',
      async handle({ tenant = DEFAULT_TENANT }) {
        const { llm, llmProblem } = await config.load(tenant)
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
        return { body: { status: status.available ? 'ok' : 'degraded', provider, model, ...status } }
      },
    }),
  ]
}

const failedTest = (message: string): ConnectionTest => ({ ok: false, message })

/** The target, or why there is none to test. */
async function configured(config: TicketingConfigSource, tenant: string, id: TargetId): Promise<Target | string> {
  const { targets, unusable } = await config.load(tenant)
  return targets.get(id) ?? unusable?.get(id) ?? `${id} is not configured`
}

/** The stored fields with others in their place. Of the tenant's own alone: with those of `default`, its secrets would go where the caller says. */
async function drafted(
  { store, cipher, allowsPrivateTargets }: ConnectionDeps,
  tenant: string,
  id: TargetId,
  fields: Readonly<Record<string, unknown>>,
): Promise<Target | string> {
  const { platforms } = await readSections(store, tenant)
  const own = platforms?.owner === tenant && Object.hasOwn(platforms.value, id) ? platforms.value[id] : undefined
  const fresh: Record<string, string> = {}
  const remember = (_: TargetId, field: string, secret: string) => {
    fresh[field] = secret
    return ''
  }
  const rules: FieldRules = { allowsPlainHttp: allowsPrivateTargets }
  const changed = changePlatforms(own === undefined ? {} : { [id]: own }, { [id]: fields }, rules, remember)
  assertSound(changed)
  const target: StoredTarget = changed.platforms[id]!
  const secrets: Record<string, string> = {}
  for (const [field, sealed] of Object.entries(target.secrets)) {
    const opened = Object.hasOwn(fresh, field)
      ? ({ ok: true, secret: fresh[field]! } as const)
      : cipher.open({ tenant, section: 'platforms', target: id, field }, sealed)
    if (!opened.ok) return `${id}.${field}: ${opened.problem}`
    secrets[field] = opened.secret
  }
  return { id, platform: parseTargetId(id)!.platform, enabled: target.enabled, fields: { ...target.fields, ...secrets } }
}

interface TestedModel {
  readonly llm: LlmConfig
  /** Why there is nothing to ask. */
  readonly problem?: string
}

/** Without fields the model that counts; with some the tenant's own with those in their place. */
async function modelToTest(
  { store, cipher, config, allowsPrivateTargets }: ConnectionDeps,
  tenant: string,
  fields: ModelChange,
): Promise<TestedModel> {
  if (Object.keys(fields).length === 0) {
    const { llm, llmProblem } = await config.load(tenant)
    const problem = llm.provider === 'none' ? NO_MODEL : llmProblem
    return problem === undefined ? { llm } : { llm, problem }
  }
  const { llm: section } = await readSections(store, tenant)
  const own = section?.owner === tenant ? section.value : undefined
  let fresh: string | undefined
  const changed = changeModel(own, fields, { allowsPlainHttp: allowsPrivateTargets }, apiKey => {
    fresh = apiKey
    return ''
  })
  assertSound(changed)
  const { apiKey: sealed, ...llm } = changed.model
  if (llm.provider === 'none') return { llm, problem: NO_MODEL }
  if (sealed === undefined) return { llm }
  if (fresh !== undefined) return { llm: { ...llm, apiKey: fresh } }
  const opened = cipher.open({ tenant, section: 'llm', target: '', field: 'apiKey' }, sealed)
  return opened.ok ? { llm: { ...llm, apiKey: opened.secret } } : { llm, problem: `llm.apiKey: ${opened.problem}` }
}

/** What takes longer is aborted, and failed. */
async function within<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>, failed: (message: string) => T): Promise<T> {
  const over = new AbortController()
  const done = new AbortController()
  const late = clock.sleep(ms, done.signal).then(() => {
    if (!done.signal.aborted) over.abort()
    return failed(`no answer within ${ms / 1_000} s`)
  })
  try {
    return await Promise.race([work(over.signal), late])
  } finally {
    done.abort()
  }
}

/** The function throws `HttpError` 429 where a tenant tests too often. */
function limitTests(clock: Clock): (tenant: string) => void {
  const allowances = new Map<string, MinuteAllowance>()
  return tenant => {
    const allowance = allowances.get(tenant) ?? new MinuteAllowance(MAX_TESTS_PER_MINUTE, clock.nowMs())
    allowances.delete(tenant)
    if (allowances.size >= MAX_COUNTED_TENANTS) allowances.delete(allowances.keys().next().value!)
    allowances.set(tenant, allowance)
    if (allowance.take(1, clock.nowMs()) === 0)
      throw new HttpError(429, `expected at most ${MAX_TESTS_PER_MINUTE} connection tests a minute`, { 'retry-after': '2' })
  }
}
