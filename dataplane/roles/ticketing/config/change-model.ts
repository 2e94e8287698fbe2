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
  const kept = apiKey === MASK || (apiKey === undefined && provider === before.provider) ? before.apiKey : undefined
  const problems = [
    ...unknownFields(change),
    ...problemsOf('provider', providerProblem(provider)),
    ...problemsOf('model', modelProblem(model, provider)),
    ...problemsOf('baseUrl', baseUrlProblem(baseUrl, provider, rules)),
    ...problemsOf('apiKey', keyProblem(apiKey, kept)),
  ]
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

const problemsOf = (field: string, problem: string | undefined) => (problem === undefined ? [] : [`${field}: ${problem}`])

function unknownFields(change: ModelChange): readonly string[] {
  const unknown = Object.keys(change).filter(name => !(FIELDS as readonly string[]).includes(name))
  return unknown.map(name => `${name.slice(0, 60)}: unknown field`)
}

function providerProblem(provider: unknown): string | undefined {
  return isProvider(provider) ? undefined : `expected one of ${LLM_PROVIDERS.join(', ')}, seen ${seen(provider)}`
}

function modelProblem(model: unknown, provider: unknown): string | undefined {
  if (model !== null && model !== '' && !isText(model)) return `expected the name of a model, seen ${seen(model)}`
  const isNeeded = isProvider(provider) && provider !== 'none'
  return !model && isNeeded ? `expected the name of a model, since provider is ${provider}, seen nothing` : undefined
}

function baseUrlProblem(baseUrl: unknown, provider: unknown, rules: FieldRules): string | undefined {
  if (baseUrl === null || baseUrl === undefined) {
    const isNeeded = NEEDS_BASE_URL.includes(provider as LlmProvider)
    return isNeeded ? `expected the address of the model, since provider is ${provider}, seen nothing` : undefined
  }
  if (!(isText(baseUrl) && isTargetUrl(baseUrl, rules.allowsPlainHttp)))
    return `expected ${expectedUrl(baseUrl, rules)}, seen ${seen(baseUrl)}`
  const refusal = rules.refuseHost?.(hostOf(baseUrl))
  return refusal === undefined ? undefined : `expected ${refusal}, seen ${seen(baseUrl)}`
}

function keyProblem(apiKey: unknown, kept: string | undefined): string | undefined {
  if (apiKey === MASK && kept === undefined) return `expected the key itself, since none is stored, seen ${MASK}`
  const isKey = apiKey === undefined || apiKey === null || (isText(apiKey) && apiKey.length <= MAX_KEY)
  return isKey ? undefined : `expected text of 1 to ${MAX_KEY} characters in one line, seen something else`
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
