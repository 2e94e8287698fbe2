/** Where each part of a standalone listens. */
export interface Addresses {
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

/** What a person at a terminal sees once everything is up; `starting` are threads of the bridge that do not run yet. */
export function banner(
  { otlpGrpc, otlpHttp, health, search, bridge, ticketing, features, scheduler, agent, dataDir }: Addresses,
  starting: readonly string[],
): string {
  const still = starting.length === 0 ? '' : `  (still starting: ${starting.join(', ')})`
  return `
  logpipeline is up

    OTLP over gRPC     ${otlpGrpc}
    OTLP over HTTP     ${otlpHttp}/v1/logs
    Search             ${search}/service-logs-*/_search
    Incidents          ${ticketing}/api/incidents
    Bridge             ${bridge}/health${still}
    Collector health   ${health}/
    ML features        ${features}/get-online-features
    Scheduler          ${scheduler}/api/v2/dags
    Infrastructure     ${agent}/metrics
    Data               ${dataDir}

  Ctrl-C stops it; what was acknowledged stays.

`
}
