/** The paths of files that declare ticketing configuration. `declared-ticketing.ts` has their content. */

/** The directory in a pod. */
export const DECLARED_TICKETING_DIR = '/etc/logpipeline/ticketing'
export const DECLARED_TICKETING_FILE = 'ticketing.json'
/**
 * Where a secret field of a target lies beside that file: `slack.webhookUrl`, of target `slack:payments` `slack.payments.webhookUrl`. The name is
 * that of the key in the operator's Secret as well, of which every key becomes a file: a key has no colon, and a target's name no dot.
 */
export const targetSecretFile = (target: string, field: string) => `${target.replace(':', '.')}.${field}`
export const LLM_SECRET_FILE = 'llm.apiKey'
