/** Asks whether a language model can be used. */
import type { ConnectionTest } from './incident-platform.ts'
import type { LlmConfig } from './language-model.ts'

export type ModelStatus = { readonly available: true } | { readonly available: false; readonly error: string }

/** `provider` of a configuration is not `none`. Messages are for people and hold no secrets. Neither rejects for what a model does. */
export interface ModelProbe {
  /** Asks the model something small. */
  test(config: LlmConfig, signal: AbortSignal): Promise<ConnectionTest>
  /** By what is known of the tenant's last questions, or by asking; cheap enough to be called every few seconds. */
  status(tenant: string, config: LlmConfig, signal: AbortSignal): Promise<ModelStatus>
}
