/** Language models by their providers (Decisions 6); `none`: rules alone. Without dependencies: the console has it, too. */
export const LLM_PROVIDERS = ['none', 'openai', 'azure-openai', 'anthropic', 'ollama', 'openai-compatible'] as const
