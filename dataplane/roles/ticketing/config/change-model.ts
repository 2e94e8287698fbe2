/** Changes to the language model of a tenant (Spec: PATCH /api/v1/config/llm; Decisions 6, 7). */
import { z } from 'zod'
import { LLM_PROVIDERS } from '../../../contract/llm-providers.ts'
import {
  type FieldRules,
  hostOf,
  isTargetUrl,
  isText,
  MASK,
  PLAIN_HTTP_NOTE,
  withoutUserInfo,
} from '../../../domain/tickets/platform-field.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import type { LlmProvider } from '../../../ports/language-model.ts'
import type { StoredModel } from './stored-sections.ts'

const FIELDS = ['provider', 'model', 'baseUrl', 'apiKey'] as const

/** Fields as a caller sent them; null removes one, `****` leaves the key as it is. */
export type ModelChange = Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>

/** Only that it is a map: its fields are held against their rules by `changeModel`, which names all problems at once and shows no key. */
export const MODEL_CHANGE = z.custom<ModelChange>(isJsonObject, `expected an object with fields of ${FIELDS.join(', ')}`)

export type ModelChanged =
  | { readonly ok: true; readonly model: StoredModel }
  /** Each names its field; none shows the key. */
  | { readonly ok: false; readonly problems: readonly string[] }

const MAX_KEY = 2_048
const NEEDS_BASE_URL: readonly LlmProvider[] = ['azure-openai', 'openai-compatible']

/** The key of one provider is not sent to another: it goes with a change of `provider` that does not name it. */
export function changeModel(
  stored: StoredModel | undefined,
  change: ModelChange,
  rules: FieldRules,
  seal: (apiKey: string) => string,
): ModelChanged {
  const before = stored ?? { provider: 'none', model: '' }
  const { provider = before.provider, model = before.model, baseUrl = before.baseUrl, apiKey } = change
  const unknown = Object.keys(change).filter(name => !(FIELDS as readonly string[]).includes(name))
  const problems = unknown.map(name => `${name.slice(0, 60)}: unknown field`)
  if (!isProvider(provider)) problems.push(`provider: expected one of ${LLM_PROVIDERS.join(', ')}, seen ${seen(provider)}`)
  const isNone = provider === 'none'
  if (model !== null && model !== '' && !isText(model)) problems.push(`model: expected the name of a model, seen ${seen(model)}`)
  else if (!model && !isNone && isProvider(provider))
    problems.push(`model: expected the name of a model, since provider is ${provider}, seen nothing`)
  if (baseUrl !== null && baseUrl !== undefined && !(isText(baseUrl) && isTargetUrl(baseUrl, rules.allowsPlainHttp)))
    problems.push(`baseUrl: expected ${expectedUrl(baseUrl, rules)}, seen ${seen(baseUrl)}`)
  else if (baseUrl && rules.refuseHost?.(hostOf(baseUrl)) !== undefined)
    problems.push(`baseUrl: expected ${rules.refuseHost(hostOf(baseUrl))}, seen ${seen(baseUrl)}`)
  else if (!baseUrl && NEEDS_BASE_URL.includes(provider as LlmProvider))
    problems.push(`baseUrl: expected the address of the model, since provider is ${provider}, seen nothing`)
  const kept = apiKey === MASK || (apiKey === undefined && provider === before.provider) ? before.apiKey : undefined
  if (apiKey === MASK && kept === undefined) problems.push(`apiKey: expected the key itself, since none is stored, seen ${MASK}`)
  if (apiKey !== undefined && apiKey !== null && !(isText(apiKey) && apiKey.length <= MAX_KEY))
    problems.push(`apiKey: expected text of 1 to ${MAX_KEY} characters in one line, seen something else`)
  if (problems.length > 0) return { ok: false, problems }
  const sealed = typeof apiKey === 'string' && apiKey !== MASK ? seal(apiKey) : kept
  return {
    ok: true,
    model: {
      provider: provider as LlmProvider,
      model: (model as string | null) ?? '',
      ...(baseUrl ? { baseUrl: baseUrl as string } : {}),
      ...(sealed === undefined ? {} : { apiKey: sealed }),
    },
  }
}

function isProvider(value: unknown): value is LlmProvider {
  return (LLM_PROVIDERS as readonly unknown[]).includes(value)
}

function expectedUrl(value: unknown, { allowsPlainHttp }: FieldRules): string {
  const isPlainHttp = !allowsPlainHttp && isText(value) && isTargetUrl(value, true)
  return `an https URL without user name and fragment${isPlainHttp ? PLAIN_HTTP_NOTE : ''}`
}

function seen(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(withoutUserInfo(value).slice(0, 60))
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
