/** The role: back ends as the settings name them, the certificate, the first API key. */
import { readFileSync } from 'node:fs'
import { ensureBootstrapKey } from '../../api-keys/bootstrap-key.ts'
import { createApiKeyStore } from '../../api-keys/key-store.ts'
import { namesIn } from '../../contract/setting.ts'
import type { Clock } from '../../ports/clock.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startGateway } from './gateway.ts'
import { type Certificate, readCertificate, selfSigned, watchCertificate } from './tls/certificate.ts'

/** Makes the self-signed certificate of a standalone, where it needs one. */
export async function prepare({ settings, clock, dataDir }: Prepare): Promise<void> {
  if (settings.TLS_CERT_FILE === undefined) selfSigned(settings.HOST, clock, dataDir)
}

interface Prepare {
  readonly settings: { readonly HOST: string; readonly TLS_CERT_FILE?: string | undefined }
  readonly clock: Clock
  readonly dataDir: string
}

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'gateway'>, { keep, backends }) => {
  const { HOST: host, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, SEARCH_CA_FILE: caFile } = settings
  const files = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile }
  const certificate: Certificate = files === undefined ? selfSigned(host, clock, standalone?.dataDir) : readCertificate(files)
  const keys = createApiKeyStore({ store: await backends.searchStore(settings), clock })
  const gateway = keep(
    await startGateway({
      keys,
      certificate,
      collector: { http: settings.COLLECTOR_ENDPOINT, grpc: settings.COLLECTOR_GRPC_ENDPOINT, local: standalone?.collector },
      backEnds: {
        bridge: settings.BRIDGE_ENDPOINT,
        ticketing: settings.TICKETING_ENDPOINT,
        agent: settings.AGENT_ENDPOINT,
        airflow: settings.SCHEDULER_ENDPOINT,
        features: settings.FEATURES_ENDPOINT,
      },
      search: {
        ...{ endpoint: settings.SEARCH_ENDPOINT, username: settings.SEARCH_USERNAME, password: settings.SEARCH_PASSWORD },
        ca: caFile === undefined ? undefined : readFileSync(caFile),
      },
      adminTenants: new Set(namesIn(settings.ADMIN_TENANTS ?? '')),
      maxRequestBytes: settings.MAX_REQUEST_BYTES,
      maxPendingBytes: settings.MAX_PENDING_BYTES,
      requestsPerSecond: settings.KEY_REQUESTS_PER_SECOND,
      ...{ host, port: settings.GATEWAY_PORT, healthPort: standalone === undefined ? settings.HEALTH_PORT : undefined, clock, log },
    }),
  )
  const { BOOTSTRAP_KEY: bootstrapKey, SERVICE_TENANT_ID: tenant } = settings
  if (bootstrapKey !== undefined) {
    const ending = new AbortController()
    const made = ensureBootstrapKey({ keys, tenant, key: bootstrapKey, clock, log, signal: ending.signal })
    keep(ending, async () => {
      ending.abort()
      await made
    })
  }
  if (files !== undefined) {
    const ending = new AbortController()
    const onChange = (next: Certificate) => gateway.setCertificate(next)
    const watching = watchCertificate(files, { clock, log, signal: ending.signal, first: certificate, onChange })
    keep(ending, async () => {
      ending.abort()
      await watching
    })
  } else if (standalone === undefined)
    log.warn({}, 'TLS_CERT_FILE is not set: a self-signed certificate is used, which clients do not trust')
  const { port, healthPort } = gateway
  log.info({ host, port, ...(healthPort !== undefined && { healthPort }) }, 'gateway listens')
  return { port, healthPort }
})
