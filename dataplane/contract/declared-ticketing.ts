/** Ticketing configuration that is declared in files, as the operator writes it from `LogPipeline` and `TicketingRoute` resources. */
import { z } from 'zod'
import { LLM_PROVIDERS } from './llm-providers.ts'

const PLATFORM = z.strictObject({
  /** `namespace/name` of the TicketingRoute that declares the field; a caller who wants to change the field reads the name in the 409. */
  owner: z.string(),
  settings: z.record(z.string(), z.union([z.string(), z.number()], { error: 'expected text or a number' })),
})

const ROUTE = z.strictObject({
  /** `namespace/name` of the TicketingRoute. */
  owner: z.string(),
  /** A target id of `platforms`. */
  platform: z.string(),
  severities: z.array(z.string()),
  /** With `*` for any characters and `?` for one; all services when absent. */
  services: z.array(z.string()).optional(),
  /** Used on escalate only. */
  escalation: z.boolean(),
})

/** The content of `DECLARED_TICKETING_FILE`. */
export const DECLARED_TICKETING = z.strictObject({
  anomaly: z.strictObject({ minimumScore: z.number().min(0).max(1).optional(), lookbackWindow: z.string().optional() }).optional(),
  llm: z.strictObject({ provider: z.enum(LLM_PROVIDERS), model: z.string().optional(), baseUrl: z.string().optional() }).optional(),
  /** By target id. */
  platforms: z.record(z.string(), PLATFORM),
  routes: z.array(ROUTE),
})
export type DeclaredTicketing = z.output<typeof DECLARED_TICKETING>
