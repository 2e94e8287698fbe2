/** `/api/v1/config`: the runtime configuration, per tenant (Spec: Ticketing runtime configuration; Decisions 6). */
import { z } from 'zod'
import { SEVERITIES, type Severity } from '../../../contract/platforms.ts'
import { isTargetId, TARGET_ID_RULE, type TargetId } from '../../../contract/target-id.ts'
import { DEFAULT_TENANT } from '../../../contract/tenant-id.ts'
import { effectiveAnomalyConfig, LOOKBACK_RULE, parseLookback, RECURRING_MODES } from '../../../domain/incidents/anomaly-config.ts'
import { changePlatforms } from '../../../domain/tickets/change-platforms.ts'
import { DEFAULT_ESCALATION, parseEscalation } from '../../../domain/tickets/escalation-config.ts'
import type { FieldRules } from '../../../domain/tickets/platform-field.ts'
import { type Route, route } from '../../../http/route.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import { createFairTurnstile } from '../../../limits/turns.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { DeclaredTicketingSource } from '../../../ports/declared-ticketing.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { Log } from '../../../telemetry/log.ts'
import { changeModel, MODEL_CHANGE } from './change-model.ts'
import { viewConfig, viewModel } from './config-view.ts'
import { refuseDeclared } from './declared-owners.ts'
import { assertSound, sealSecret } from './refusals.ts'
import type { SecretCipher } from './secret-cipher.ts'
import { changeSection, readSections, type SectionName, type Sections } from './stored-sections.ts'
import type { RememberingConfigSource } from './ticketing-config.ts'

export interface ConfigDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly declared: Pick<DeclaredTicketingSource, 'current' | 'problems'>
  readonly cipher: SecretCipher
  readonly config: RememberingConfigSource
  readonly fieldRules: FieldRules
  /** Targets of a tenant have other settings, or the same once more. */
  readonly onMended: (tenant: string, targets: readonly TargetId[]) => void
}

const PLATFORM_CHANGES = z.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'expected a map from platform id to its fields')

const MAX_ROUTED = 100

const TARGET_IDS = z
  .array(z.custom<TargetId>(id => typeof id === 'string' && isTargetId(id), `expected ${TARGET_ID_RULE}`))
  .max(MAX_ROUTED)
  .transform(ids => [...new Set(ids)])
const ROUTING_CHANGE = z.strictObject(ofSeverities(TARGET_IDS.exactOptional()))

const DURATION_OR_NULL_RULE = `expected ${LOOKBACK_RULE}, or null`
const DURATION_OR_NULL = z
  .string(DURATION_OR_NULL_RULE)
  .refine(text => parseEscalation(text) !== undefined, DURATION_OR_NULL_RULE)
  .nullable()
const ESCALATION_CHANGE = z.strictObject(ofSeverities(DURATION_OR_NULL.exactOptional()))

const ANOMALY_CHANGE = z.strictObject({
  minimumScore: z.number().min(0).max(1).exactOptional(),
  lookbackWindow: z
    .string(`expected ${LOOKBACK_RULE}`)
    .refine(text => parseLookback(text) !== undefined, `expected ${LOOKBACK_RULE}`)
    .exactOptional(),
  recurring: z.enum(RECURRING_MODES).exactOptional(),
})

interface ChangeDeps extends ConfigDeps {
  /** Changes of this process follow each other, tenants by turns: none of many callers loses to the others until it gives up. */
  readonly inTurn: ReturnType<typeof createFairTurnstile>
}

export function configRoutes(config: ConfigDeps): readonly Route[] {
  const deps: ChangeDeps = { ...config, inTurn: createFairTurnstile(1) }
  const { store, declared, cipher, fieldRules } = deps
  return [
    route({
      method: 'GET',
      path: '/api/v1/config',
      handle: async ({ tenant = DEFAULT_TENANT }) => ({ body: viewConfig(deps, await readSections(store, tenant)) }),
    }),
    route({
      method: 'PATCH',
      path: '/api/v1/config/platforms',
      body: PLATFORM_CHANGES,
      async handle({ tenant = DEFAULT_TENANT, body }) {
        // A tenant's first target stands alone: what `default` has would bring its secrets along.
        await change(deps, tenant, 'platforms', body, async before => {
          const changed = changePlatforms(before ?? {}, body, fieldRules, (target, field, secret) =>
            sealSecret(cipher, { tenant, section: 'platforms', target, field }, secret),
          )
          assertSound(changed)
          return changed.platforms
        })
        deps.onMended(tenant, Object.keys(body) as TargetId[])
        return { body: { status: 'ok', updated: Object.keys(body) } }
      },
    }),
    mergedRoute(deps, 'routing', ROUTING_CHANGE, value => value),
    mergedRoute(deps, 'anomaly', ANOMALY_CHANGE, value => effectiveAnomalyConfig(value, declared.current()?.anomaly)),
    mergedRoute(deps, 'escalation', ESCALATION_CHANGE, value => ({ ...DEFAULT_ESCALATION, ...value })),
    route({
      method: 'PATCH',
      path: '/api/v1/config/llm',
      body: MODEL_CHANGE,
      async handle({ tenant = DEFAULT_TENANT, body }) {
        const stored = await change(deps, tenant, 'llm', body, async before => {
          const place = { tenant, section: 'llm', target: '', field: 'apiKey' } as const
          const changed = changeModel(before, body, fieldRules, apiKey => sealSecret(cipher, place, apiKey))
          assertSound(changed)
          return changed.model
        })
        return { body: { status: 'ok', llm: viewModel(stored) } }
      },
    }),
  ]
}

/** Throws `HttpError` 409 where the section is declared, and what `build` throws; nothing is changed then. An empty change writes nothing. */
async function change<S extends SectionName>(
  { store, clock, log, declared, config, inTurn }: ChangeDeps,
  tenant: string,
  section: S,
  body: object,
  build: (before: Sections[S] | undefined) => Promise<Sections[S]>,
): Promise<Sections[S]> {
  refuseDeclared(section, body, declared.current())
  const changed = Object.keys(body)
  if (changed.length === 0) {
    const own = (await readSections(store, tenant))[section]
    return build(own?.owner === tenant ? own.value : undefined)
  }
  const value = await inTurn(tenant, () => changeSection({ store, clock }, { tenant, section, change: build }))
  config.forget()
  log.info({ tenant, section, changed }, 'ticketing configuration changed')
  return value
}

function ofSeverities<T>(schema: T): Readonly<Record<Severity, T>> {
  return Object.fromEntries(SEVERITIES.map(severity => [severity, schema])) as Record<Severity, T>
}

/** A section without secrets: what a change does not name stays as it was for the tenant, also where it came from `default`. */
function mergedRoute<S extends 'routing' | 'anomaly' | 'escalation'>(
  deps: ChangeDeps,
  section: S,
  body: z.ZodType<Sections[S]>,
  view: (value: Sections[S]) => object,
): Route {
  return route({
    method: 'PATCH',
    path: `/api/v1/config/${section}`,
    body,
    async handle({ tenant = DEFAULT_TENANT, body }) {
      const inherited = async () => (await readSections(deps.store, DEFAULT_TENANT))[section]?.value
      const merged = await change(deps, tenant, section, body, async before => ({ ...(before ?? (await inherited())), ...body }))
      return { body: { status: 'ok', [section]: view(merged) } }
    },
  })
}
