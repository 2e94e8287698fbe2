/** Addresses of the parts of a standalone: for its own parts, and for people. */
import { bracketed } from '../../text/bracketed.ts'

/** The ports on which the parts listen. */
export interface Listening {
  readonly collector: { readonly addresses: { readonly httpPort: number; readonly grpcPort: number; readonly healthPort: number } }
  readonly bridge: { readonly port: number }
  readonly ticketing: { readonly port: number }
  readonly features: { readonly port: number }
  readonly scheduler: { readonly port: number }
  readonly agent: { readonly port: number }
}

/** Where people find each part. */
export interface Addresses {
  readonly dashboard: string
  readonly gateway: string
  readonly otlpGrpc: string
  readonly otlpHttp: string
  readonly health: string
  readonly search: string
  readonly bridge: string
  readonly ticketing: string
  readonly features: string
  readonly scheduler: string
  readonly agent: string
  readonly dataDir: string
}

/** Settings by which gateway and dashboard find the other parts. */
export function endpointsOf(host: string, { collector, bridge, ticketing, agent, scheduler, features }: Listening) {
  const at = (port: number) => `http://${reachable(host)}:${port}`
  return {
    COLLECTOR_ENDPOINT: at(collector.addresses.httpPort),
    COLLECTOR_GRPC_ENDPOINT: at(collector.addresses.grpcPort),
    BRIDGE_ENDPOINT: at(bridge.port),
    TICKETING_ENDPOINT: at(ticketing.port),
    AGENT_ENDPOINT: at(agent.port),
    SCHEDULER_ENDPOINT: at(scheduler.port),
    FEATURES_ENDPOINT: at(features.port),
  }
}

export function addressesOf(
  host: string,
  { collector, bridge, ticketing, features, scheduler, agent }: Listening,
  { dashboard, gateway }: { readonly dashboard: number; readonly gateway: number },
): Omit<Addresses, 'search' | 'dataDir'> {
  const shown = bracketed(host)
  const at = (port: number) => `http://${shown}:${port}`
  return {
    dashboard: `http://${host === '127.0.0.1' ? 'localhost' : shown}:${dashboard}`,
    gateway: `https://${shown}:${gateway}`,
    otlpGrpc: `${shown}:${collector.addresses.grpcPort}`,
    otlpHttp: at(collector.addresses.httpPort),
    health: at(collector.addresses.healthPort),
    bridge: at(bridge.port),
    ticketing: at(ticketing.port),
    features: at(features.port),
    scheduler: at(scheduler.port),
    agent: at(agent.port),
  }
}

/** An address on this machine where a listener on `host` answers. */
export function reachable(host: string): string {
  // A listener on :: takes IPv4 as well, which each machine has.
  if (host === '0.0.0.0' || host === '::' || host === '') return '127.0.0.1'
  return bracketed(host)
}
