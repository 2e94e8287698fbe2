/** Where each provider listens, and how it wants to be asked. */
import type { LlmConfig, LlmProvider } from '../../ports/language-model.ts'
import { ModelUnavailable } from '../../ports/language-model.ts'
import { ANTHROPIC_MESSAGES } from './anthropic-messages.ts'
import { CHAT_COMPLETIONS } from './chat-completions.ts'
import { OLLAMA_CHAT } from './ollama-chat.ts'
import type { LimitName, WireFormat } from './wire-format.ts'

/** Where questions go, and in which form. */
export interface Way {
  readonly url: string
  readonly format: WireFormat
}

export interface Endpoint extends Way {
  /** The way of servers that do not know `url`. */
  readonly otherwise?: Way
  /** A list of models: costs nothing, and shows whether the provider is there and takes the key. */
  readonly probeUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** The name of the limit of an answer, as far as it is known before the question. */
  readonly limitName: LimitName
}

type Key = (apiKey: string) => Readonly<Record<string, string>>
const BEARER: Key = apiKey => ({ authorization: `Bearer ${apiKey}` })

type Addresses = Pick<Endpoint, 'url' | 'format' | 'probeUrl' | 'otherwise'>

interface Provider {
  /** Absent: users have to name it. */
  readonly baseUrl?: string
  readonly needsKey: boolean
  readonly key: Key
  readonly headers?: Readonly<Record<string, string>>
  readonly limitName: LimitName
  readonly addresses: (base: URL, model: string) => Addresses
}

/** The oldest version that knows `json_schema`; a base address with another one wins. */
const AZURE_VERSION = '2024-10-21'
const ANTHROPIC_VERSION = '2023-06-01'

const PROVIDERS: Readonly<Record<Exclude<LlmProvider, 'none'>, Provider>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    key: BEARER,
    limitName: 'max_completion_tokens',
    addresses: addressesOfOpenAi,
  },
  'azure-openai': {
    needsKey: true,
    key: apiKey => ({ 'api-key': apiKey }),
    limitName: 'max_completion_tokens',
    addresses: addressesOfAzure,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    needsKey: true,
    key: apiKey => ({ 'x-api-key': apiKey }),
    headers: { 'anthropic-version': ANTHROPIC_VERSION },
    limitName: 'max_tokens',
    addresses: base => ({
      url: within(versioned(base), 'messages'),
      format: ANTHROPIC_MESSAGES,
      probeUrl: within(versioned(base), 'models'),
    }),
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434',
    needsKey: false,
    key: BEARER,
    limitName: 'max_tokens',
    addresses: addressesOfOllama,
  },
  'openai-compatible': {
    needsKey: false,
    key: BEARER,
    limitName: 'max_tokens',
    addresses: addressesOfOpenAi,
  },
}

/** Throws `ModelUnavailable` where the configuration lacks something. */
export function endpointOf({ provider, model, baseUrl, apiKey = '' }: LlmConfig): Endpoint {
  if (provider === 'none') throw incomplete('no provider configured')
  const { needsKey, key, headers, limitName, addresses, ...known } = PROVIDERS[provider]
  const base = baseUrl ?? known.baseUrl
  if (base === undefined || base === '') throw incomplete(`baseUrl: expected the address of ${provider}, seen none`)
  if (!URL.canParse(base)) throw incomplete('baseUrl: expected an absolute address such as https://models.example.com/v1')
  if (model === '') throw incomplete('model: expected the name of a model, seen none')
  if (needsKey && apiKey === '') throw incomplete(`apiKey: expected the key for ${provider}, seen none`)
  return { ...addresses(new URL(base), model), headers: { ...headers, ...(apiKey === '' ? {} : key(apiKey)) }, limitName }
}

function incomplete(message: string): ModelUnavailable {
  return new ModelUnavailable(message, { isPassing: false })
}

/** `path` under the base, which may name the last endpoint itself and have a query of its own. */
function within(base: URL, path: string): string {
  const url = new URL(base)
  const root = url.pathname.replace(/\/+$/, '').replace(/\/(?:chat\/completions|messages|models)$/, '')
  url.pathname = `${root}/${path}`
  return url.href
}

/** The base with `/v1`, where users left it out. */
function versioned(base: URL): URL {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '')
  if (!hasVersion(url)) url.pathname = `${path}/v1`
  return url
}

function hasVersion({ pathname }: URL): boolean {
  return /\/v\d+(?:$|\/)/.test(pathname)
}

/** Behind the base; below its `/v1` where users left that out. */
function addressesOfOpenAi(base: URL): Addresses {
  const chatOf = (root: URL) => ({ url: within(root, 'chat/completions'), format: CHAT_COMPLETIONS })
  return { ...chatOf(base), probeUrl: within(base, 'models'), ...(!hasVersion(base) && { otherwise: chatOf(versioned(base)) }) }
}

/** Its own interface, unless the base is that in OpenAI's format (`…/v1`). */
function addressesOfOllama(base: URL): Addresses {
  if (hasVersion(base)) return addressesOfOpenAi(base)
  const root = new URL(base)
  root.pathname = root.pathname.replace(/\/+$/, '').replace(/\/api(?:\/chat)?$/, '')
  return {
    url: within(root, 'api/chat'),
    format: OLLAMA_CHAT,
    probeUrl: within(root, 'api/tags'),
    otherwise: addressesOfOpenAi(versioned(root)),
  }
}

/** The resource (`https://x.openai.azure.com`), one of its deployments, or its interface without versions (`/openai/v1`). */
function addressesOfAzure(base: URL, model: string): Addresses {
  const [resource = '', rest = ''] = base.pathname.replace(/\/+$/, '').split('/openai')
  if (/^\/v\d+/.test(rest)) return addressesOfOpenAi(base)
  const withVersion = new URL(base)
  if (!withVersion.searchParams.has('api-version')) withVersion.searchParams.set('api-version', AZURE_VERSION)
  const at = (path: string) => {
    const url = new URL(withVersion)
    url.pathname = `${resource}/openai/${path}`
    return url.href
  }
  const deployment = /^\/deployments\/([^/]+)/.exec(rest)?.[1] ?? encodeURIComponent(model)
  return { url: at(`deployments/${deployment}/chat/completions`), format: CHAT_COMPLETIONS, probeUrl: at('models') }
}
