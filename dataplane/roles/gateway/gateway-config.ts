import type { ApiKeyStore } from '../../api-keys/key-store.ts'
import type { LocalCollector } from '../../otlp-intake/local-collector.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { BackEnd } from './back-ends.ts'
import type { Certificate } from './tls/certificate.ts'

export interface GatewayConfig {
  readonly keys: ApiKeyStore
  readonly certificate: Certificate
  /** `local`: in this process, where exports then go without another connection. */
  readonly collector: { readonly http: string; readonly grpc: string; readonly local?: LocalCollector | undefined }
  /** Where each listens. */
  readonly backEnds: Readonly<Record<BackEnd, string>>
  readonly search: {
    readonly endpoint: string
    readonly username?: string | undefined
    readonly password?: string | undefined
    readonly ca?: Buffer | undefined
  }
  readonly adminTenants: ReadonlySet<string>
  readonly maxRequestBytes: number
  readonly maxPendingBytes: number
  /** Undefined: no limit. */
  readonly requestsPerSecond?: number | undefined
  readonly host: string
  readonly port: number
  /** Port of health and metrics in plain text, for callers without a key; undefined: none. */
  readonly healthPort?: number | undefined
  readonly clock: Clock
  readonly log: Log
}
