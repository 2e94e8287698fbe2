/** Language models by their providers (Decisions 6); `none`: rules alone. Without dependencies: the console has it, too. */
export const LLM_PROVIDERS = ['none', 'openai', 'azure-openai', 'anthropic', 'ollama', 'openai-compatible'] as const

export type LlmProvider = (typeof LLM_PROVIDERS)[number]

/** Those without an address that everybody knows: users have to name it. */
export const NEED_BASE_URL: readonly LlmProvider[] = ['azure-openai', 'openai-compatible']
/** Those that are never asked without a key. */
export const NEED_KEY: readonly LlmProvider[] = ['openai', 'azure-openai', 'anthropic']
