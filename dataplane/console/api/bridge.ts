/** The bridge (Spec: Bridge): its threads, and the settings that can be changed while it runs. */
import { request } from './request.ts'

export interface BridgeHealth {
  readonly status: 'ok' | 'error'
  readonly threads: Readonly<Record<string, string>>
  readonly bus: string
  readonly search: string
}

/** A bridge that does not work says what is wrong with 503: probes look at the status alone. */
export function readBridgeHealth(signal?: AbortSignal): Promise<BridgeHealth> {
  return request('/api/bridge/health', { signal, isAnswer: body => typeof body === 'object' && body !== null && 'threads' in body })
}

export interface BridgeConfig {
  readonly anomalyThreshold: number
  readonly windowSize: number
  readonly busBrokers: string
  readonly rawTopic: string
  readonly enrichedTopic: string
  readonly searchEndpoint: string
}

export function readBridgeConfig(signal?: AbortSignal): Promise<BridgeConfig> {
  return request('/api/bridge/config', { signal })
}

export function changeBridgeConfig(
  changes: Partial<Pick<BridgeConfig, 'anomalyThreshold' | 'windowSize'>>,
): Promise<{ readonly status: 'ok'; readonly config: Pick<BridgeConfig, 'anomalyThreshold' | 'windowSize'> }> {
  return request('/api/bridge/config', { method: 'PATCH', body: changes })
}
