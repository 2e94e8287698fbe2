/** The configuration of the ticketing agent (Spec: Ticketing runtime configuration): platforms, routing, thresholds, model, silences, escalation. */
import type { LLM_PROVIDERS } from '../../contract/llm-providers.ts'
import type { AnomalyConfig } from '../../domain/incidents/anomaly-config.ts'
import type { EscalationConfig } from '../../domain/tickets/escalation-config.ts'
import type { Silence } from '../../domain/tickets/silence.ts'
import type { DeclaredAnomaly, DeclaredRoute } from '../../ports/declared-ticketing.ts'
import { request } from './request.ts'
import type { Severity } from './ticketing.ts'

/** `enabled`, the fields of the platform, and `****` for each secret that is stored. */
export type ShownTarget = Readonly<Record<string, unknown>> & { readonly enabled?: boolean }

export interface ModelConfig {
  readonly provider: (typeof LLM_PROVIDERS)[number]
  readonly model: string
  readonly baseUrl?: string
  /** `****` when one is stored. */
  readonly apiKey?: string
}

export interface TicketingConfig {
  readonly platforms: Readonly<Record<string, ShownTarget>>
  readonly routing: Readonly<Partial<Record<Severity, readonly string[]>>>
  readonly anomaly: AnomalyConfig
  readonly llm: ModelConfig
  readonly escalation: EscalationConfig
  /** Parts that were declared elsewhere, and cannot be changed here. */
  readonly declared?: {
    /** Owners by target id. */
    readonly platforms?: Readonly<Record<string, string>>
    readonly routes?: readonly DeclaredRoute[]
    readonly anomaly?: DeclaredAnomaly
    readonly llm?: { readonly provider: ModelConfig['provider'] }
    /** Why the newest declaration is not used. */
    readonly problems?: readonly string[]
  }
  /** Secrets that cannot be read, each with its place. */
  readonly problems?: readonly string[]
}

const API = '/api/ticketing/api/v1'
/** A model may take its time. */
const TEST_TIMEOUT_MS = 45_000

export function readConfig(signal?: AbortSignal): Promise<TicketingConfig> {
  return request(`${API}/config`, { signal })
}

export interface ConfigChanges {
  /** Fields by target id; null removes a target or a field. */
  readonly platforms: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>
  readonly routing: TicketingConfig['routing']
  readonly anomaly: Partial<AnomalyConfig>
  readonly escalation: Partial<EscalationConfig>
  /** `****` keeps the key; null removes it. */
  readonly llm: Readonly<Record<keyof ModelConfig, string | null>> | Partial<Readonly<Record<keyof ModelConfig, string | null>>>
}
export type ConfigSection = keyof ConfigChanges

export function changeConfig<S extends ConfigSection>(section: S, changes: ConfigChanges[S]): Promise<unknown> {
  return request(`${API}/config/${section}`, { method: 'PATCH', body: changes })
}

export interface TestAnswer {
  readonly status: 'ok' | 'error'
  readonly message: string
}

/** With `config`, of fields that are not stored yet. */
export function testConnection(platform: string, config?: Readonly<Record<string, unknown>>): Promise<TestAnswer> {
  const body = config === undefined ? { platform } : { platform, config }
  return request(`${API}/test-connection`, { method: 'POST', body, timeoutMs: TEST_TIMEOUT_MS })
}

export function testModel(
  changes: Partial<ConfigChanges['llm']> = {},
): Promise<TestAnswer & { readonly provider: string; readonly model: string }> {
  return request(`${API}/test-llm`, { method: 'POST', body: changes, timeoutMs: TEST_TIMEOUT_MS })
}

export interface ModelStatus {
  readonly status: 'ok' | 'degraded'
  readonly provider: string
  readonly model: string
  readonly available: boolean
  readonly error?: string
}

export function readModelStatus(signal?: AbortSignal): Promise<ModelStatus> {
  return request(`${API}/llm-status`, { signal, timeoutMs: TEST_TIMEOUT_MS })
}

/** Silences of a tenant; undefined: of that of the page. */
export function listSilences(signal?: AbortSignal, tenant?: string): Promise<readonly Silence[]> {
  return request(`${API}/silences`, { signal, tenant })
}

export function addSilence(silence: Omit<Silence, 'id' | 'createdAt'>): Promise<Silence> {
  return request(`${API}/silences`, { method: 'POST', body: silence })
}

export function removeSilence(id: string): Promise<{ readonly status: 'ok'; readonly id: string }> {
  return request(`${API}/silences/${encodeURIComponent(id)}`, { method: 'DELETE' })
}
