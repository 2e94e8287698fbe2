/** Ticketing configuration that is declared in files, as the operator writes it from `LogPipeline` and `TicketingRoute` resources. */
import { z } from 'zod'

export const DECLARED_TICKETING_FILE = 'ticketing.json'
/** Where a secret field of a platform lies beside that file. */
export const platformSecretFile = (platform: string, field: string) => `secrets/${platform}/${field}`
export const LLM_SECRET_FILE = 'secrets/llm/apiKey'

const PLATFORM = z.strictObject({
  /** `namespace/name` of the TicketingRoute that says so; named by the 409 to who wants to change it. */
  owner: z.string(),
  settings: z.record(z.string(), z.union([z.string(), z.number()])),
})

const ROUTE = z.strictObject({
  /** `namespace/name` of the TicketingRoute. */
  owner: z.string(),
  platform: z.string(),
  severities: z.array(z.string()),
  /** With `*` for any characters; all services when absent. */
  services: z.array(z.string()).optional(),
  /** Used on escalate only. */
  escalation: z.boolean(),
})

/** The content of `DECLARED_TICKETING_FILE`. */
export const DECLARED_TICKETING = z.strictObject({
  anomaly: z.strictObject({ minimumScore: z.number().optional(), lookbackWindow: z.string().optional() }).optional(),
  llm: z.strictObject({ provider: z.string(), model: z.string().optional(), baseUrl: z.string().optional() }).optional(),
  /** By platform id. */
  platforms: z.record(z.string(), PLATFORM),
  routes: z.array(ROUTE),
})
export type DeclaredTicketing = z.output<typeof DECLARED_TICKETING>
