/** A language model as the product uses it: one question, one answer in JSON. */
import type { LLM_PROVIDERS } from '../contract/llm-providers.ts'

export type LlmProvider = (typeof LLM_PROVIDERS)[number]

export interface LlmConfig {
  readonly provider: LlmProvider
  readonly model: string
  readonly baseUrl?: string
  /** In the clear: never to be logged or answered. */
  readonly apiKey?: string
}

export interface ModelQuestion {
  /** Instructions. */
  readonly system: string
  /** Data, fenced. */
  readonly user: string
  /** JSON schema of the answer. */
  readonly schema: object
  readonly maxOutputTokens: number
}

export interface ModelAnswer {
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface LanguageModel {
  /** Rejects with `ModelUnavailable`; messages hold no secrets. */
  ask(config: LlmConfig, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>
  /** Whether the provider is there and takes the key: asks for something that costs nothing. Rejects as `ask`. */
  probe(config: LlmConfig, signal: AbortSignal): Promise<void>
}

export class ModelUnavailable extends Error {
  /** Another attempt may help (429, 5xx, network). */
  readonly isPassing: boolean
  readonly afterMs: number | undefined
  constructor(message: string, { isPassing, afterMs, cause }: { isPassing: boolean; afterMs?: number; cause?: unknown }) {
    super(message, { cause })
    this.name = 'ModelUnavailable'
    this.isPassing = isPassing
    this.afterMs = afterMs
  }
}
