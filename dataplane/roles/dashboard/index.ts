/** The role: back ends as the settings name them, the key store, the pages that are there. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { apiKeyRoutes } from '../../api-keys/key-routes.ts'
import { createApiKeyStore } from '../../api-keys/key-store.ts'
import { defaultOf, SETTINGS } from '../../contract/env.ts'
import { basicAuthorization } from '../../http/basic-authorization.ts'
import { COLLECTOR_AWAY } from '../../tenant-export/export-http.ts'
import { createUpstream, type Upstream, type UpstreamConfig } from '../../upstream/upstream.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startDashboard } from './dashboard.ts'
import { DASHBOARD_HEADERS } from './proxy/forwarded-headers.ts'
import { basePathOf } from './proxy/request-target.ts'
import { SERVICE_NAMES, SERVICES, type ServiceName } from './proxy/services.ts'
import { openSite } from './site/site.ts'
import { createUploadSender } from './upload/upload-sender.ts'

/** The console where it is built: beside the compiled program, or in `dist` of the sources. Else a page that says how to build it. */
const CONSOLE = import.meta.filename.endsWith('.ts') ? '../../../dist/console' : '../../../console'
const SITES = [CONSOLE, './site/not-built'].map(path => resolve(import.meta.dirname, path))

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'dashboard'>, { keep, backends: stores }) => {
  const { HOST: host, DASHBOARD_PORT, DASHBOARD_USERNAME: username, DASHBOARD_PASSWORD: password, PUBLIC_URL: publicUrl } = settings
  const backends = Object.fromEntries(
    SERVICE_NAMES.map(name => [name, createUpstream(upstreamConfig(name, settings), log)] as const),
  ) as Readonly<Record<ServiceName, Upstream>>
  keep({ stop: async () => void (await Promise.all(Object.values(backends).map(backend => backend.close()))) })
  const collector = createUploadSender(settings.COLLECTOR_ENDPOINT, clock)
  keep({ stop: () => collector.close() })
  const keys = createApiKeyStore({ store: await stores.searchStore(settings), clock })
  const { port } = keep(
    await startDashboard({
      ...{ backends, collector, clock, log, host, publicUrl },
      unconfigured: standalone === undefined ? unconfigured(settings) : new Set(),
      site: openSite(SITES, { basePath: basePathOf(publicUrl), gatewayPort: standalone?.gatewayPort }),
      routes: apiKeyRoutes({ keys, clock }),
      credentials: password === undefined ? undefined : { username, password },
      port: DASHBOARD_PORT,
      ...{ maxRequestBytes: settings.MAX_REQUEST_BYTES, maxPendingBytes: settings.MAX_PENDING_BYTES },
    }),
  )
  log.info({ host, port, asksForPassword: password !== undefined }, 'dashboard listens')
  return { port }
})

/** Services that an installation may do without, and that no setting places elsewhere than the default does. */
function unconfigured(settings: RoleContext<'dashboard'>['settings']): ReadonlySet<ServiceName> {
  const isByDefault = (name: ServiceName) => {
    const { setting, isOptional = false } = SERVICES[name]
    return isOptional && settings[setting] === defaultOf(SETTINGS[setting], 'dashboard')
  }
  return new Set(SERVICE_NAMES.filter(isByDefault))
}

function upstreamConfig(name: ServiceName, settings: RoleContext<'dashboard'>['settings']): UpstreamConfig {
  const { title, setting } = SERVICES[name]
  const isSearch = name === 'search'
  const { SEARCH_USERNAME: user, SEARCH_PASSWORD: secret = '', SEARCH_CA_FILE: caFile } = settings
  return {
    ...{ endpoint: settings[setting], name: `the ${title}`, policy: DASHBOARD_HEADERS },
    headers: isSearch && user !== undefined ? { authorization: basicAuthorization(user, secret) } : {},
    ca: isSearch && caFile !== undefined ? readFileSync(caFile) : undefined,
    ...(name === 'collector' && { unreachable: COLLECTOR_AWAY }),
  }
}
