/** The ticketing configuration that counts for a tenant: what the operator declared, else what the tenant set, else what the tenant `default` set. */
import type { Severity } from '../contract/platforms.ts'
import type { TargetId } from '../contract/target-id.ts'
import type { AnomalyConfig } from '../domain/incidents/anomaly-config.ts'
import type { Target } from '../domain/tickets/target.ts'
import type { DeclaredRoute } from './declared-ticketing.ts'
import type { LlmConfig } from './language-model.ts'

export interface TicketingConfig {
  /** All that are configured, those that are switched off, too. */
  readonly targets: ReadonlyMap<TargetId, Target>
  /** Why targets that are configured cannot be used, such as a secret that cannot be decrypted; they are not among `targets`. */
  readonly unusable?: ReadonlyMap<TargetId, string>
  /** As PATCHed. A severity that the declared layer has routes for is not looked up here. */
  readonly routing: Readonly<Record<Severity, readonly TargetId[]>>
  readonly declaredRoutes: readonly DeclaredRoute[]
  readonly anomaly: AnomalyConfig
  /** ms after which an open incident is escalated by itself; null: never. */
  readonly escalateAfterMs: Readonly<Record<Severity, number | null>>
  readonly llm: LlmConfig
  /** Why the key of the model cannot be used; `llm` is then without it. */
  readonly llmProblem?: string
}

export interface TicketingConfigSource {
  /** At most a second old. Rejects with the search store's errors. */
  load(tenant: string): Promise<TicketingConfig>
}
