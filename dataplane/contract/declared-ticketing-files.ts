/** The paths of files that declare ticketing configuration. `declared-ticketing.ts` has their content. */

/** The directory in a pod. */
export const DECLARED_TICKETING_DIR = '/etc/logpipeline/ticketing'
export const DECLARED_TICKETING_FILE = 'ticketing.json'
/** Where a secret field of a platform lies beside that file. */
export const platformSecretFile = (platform: string, field: string) => `secrets/${platform}/${field}`
export const LLM_SECRET_FILE = 'secrets/llm/apiKey'
