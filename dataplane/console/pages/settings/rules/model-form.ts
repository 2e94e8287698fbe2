/** The language model as a form: which fields a provider has, what is wrong, what is sent. */
import type { LLM_PROVIDERS } from '../../../../contract/llm-providers.ts'
import { isTargetUrl, MASK } from '../../../../domain/tickets/platform-field.ts'
import type { ConfigChanges, ModelConfig } from '../../../api/ticketing-config.ts'

export type Provider = (typeof LLM_PROVIDERS)[number]

export interface ModelForm {
  readonly provider: Provider
  readonly model: string
  readonly baseUrl: string
  /** Only what was typed. */
  readonly apiKey: string
  /** A key is stored and stays. */
  readonly keepsKey: boolean
}

interface ProviderWords {
  readonly title: string
  readonly model: string
  readonly baseUrl: 'needed' | 'optional'
  readonly hint: string
}

export const PROVIDER_WORDS: Readonly<Record<Provider, ProviderWords>> = {
  none: { title: 'None: rules alone', model: '', baseUrl: 'optional', hint: 'Root causes are found by rules, without a model.' },
  openai: { title: 'OpenAI', model: 'gpt-5-mini', baseUrl: 'optional', hint: 'Needs an API key.' },
  'azure-openai': {
    title: 'Azure OpenAI',
    model: 'name of the deployment',
    baseUrl: 'needed',
    hint: 'Needs the address of the resource and its key.',
  },
  anthropic: { title: 'Anthropic', model: 'claude-sonnet-4-5', baseUrl: 'optional', hint: 'Needs an API key.' },
  ollama: { title: 'Ollama', model: 'llama3.1', baseUrl: 'optional', hint: 'Runs on a machine of yours; no key.' },
  'openai-compatible': {
    title: 'OpenAI-compatible',
    model: 'name of the model',
    baseUrl: 'needed',
    hint: 'Any server with the chat API of OpenAI.',
  },
}

export function openModelForm({ provider, model, baseUrl = '', apiKey }: ModelConfig): ModelForm {
  return { provider, model, baseUrl, apiKey: '', keepsKey: apiKey === MASK }
}

/** The key of one provider is not sent to another. */
export function chooseProvider(form: ModelForm, provider: Provider, stored: ModelConfig): ModelForm {
  const isStored = provider === stored.provider
  return { ...form, provider, apiKey: '', keepsKey: isStored && stored.apiKey === MASK, model: isStored ? stored.model : '' }
}

export function modelProblems({ provider, model, baseUrl }: ModelForm): Readonly<Partial<Record<'model' | 'baseUrl', string>>> {
  if (provider === 'none') return {}
  const url = baseUrl.trim()
  const baseUrlProblem =
    url === ''
      ? PROVIDER_WORDS[provider].baseUrl === 'needed'
        ? 'The address is needed'
        : undefined
      : isTargetUrl(url, true)
        ? undefined
        : 'Expected a URL such as https://models.example.com'
  return {
    ...(model.trim() === '' && { model: 'The name of the model is needed' }),
    ...(baseUrlProblem !== undefined && { baseUrl: baseUrlProblem }),
  }
}

/** For PATCH and `test-llm` alike. */
export function modelChange({ provider, model, baseUrl, apiKey, keepsKey }: ModelForm): ConfigChanges['llm'] {
  if (provider === 'none') return { provider, model: '', baseUrl: null, apiKey: null }
  return {
    ...{ provider, model: model.trim(), baseUrl: baseUrl.trim() || null },
    apiKey: apiKey.trim() !== '' ? apiKey.trim() : keepsKey ? MASK : null,
  }
}

export function isModelChanged(form: ModelForm, stored: ModelConfig): boolean {
  const fresh = openModelForm(stored)
  return (Object.keys(fresh) as (keyof ModelForm)[]).some(key => fresh[key] !== form[key])
}
