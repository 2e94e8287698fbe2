/** The role: back ends as the settings name them, the key store, the pages that are there. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { apiKeyRoutes } from '../../api-keys/key-routes.ts'
import { createApiKeyStore } from '../../api-keys/key-store.ts'
import { HttpError } from '../../http/http-error.ts'
import { createUpstream } from '../../upstream/upstream.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { startDashboard } from './dashboard.ts'
import { CollectorUnreachable } from './proxy/collector-unreachable.ts'
import { type BackendConfig, createBackend } from './proxy/forward.ts'
import { SERVICE_NAMES, SERVICES, type ServiceName } from './proxy/services.ts'
import { openSite } from './site/site.ts'
import { createCollectorClient } from './upload/collector-client.ts'

/** The console where it is built: beside the compiled program, or in `dist` of the sources. Else a page that says how to build it. */
const CONSOLE = import.meta.filename.endsWith('.ts') ? '../../../dist/console' : '../../../console'
const SITES = [CONSOLE, './site/not-built'].map(path => resolve(import.meta.dirname, path))

export const start = defineRole(async ({ settings, log, clock }: RoleContext<'dashboard'>, { keep, backends: stores }) => {
  const { HOST: host, DASHBOARD_PORT, DASHBOARD_USERNAME: username, DASHBOARD_PASSWORD: password, PUBLIC_URL: publicUrl } = settings
  const configs = SERVICE_NAMES.map(name => [name, backendConfig(name, settings)] as const)
  const backends = Object.fromEntries(configs.map(([name, config]) => [name, createBackend(config)])) as Record<
    ServiceName,
    ReturnType<typeof createBackend>
  >
  keep({ stop: async () => void (await Promise.all(Object.values(backends).map(backend => backend.close()))) })
  const collector = createCollectorClient(settings.COLLECTOR_ENDPOINT, clock)
  keep({ stop: () => collector.close() })
  const { endpoint, headers, ca } = backendConfig('search', settings)
  const tenantSearch = createUpstream(
    { ...{ endpoint, headers, name: 'the search store' }, ca: ca === undefined ? undefined : Buffer.from(ca) },
    log,
  )
  keep({ stop: () => tenantSearch.close() })
  const keys = createApiKeyStore({ store: await stores.searchStore(settings), clock })
  const { port } = keep(
    await startDashboard({
      ...{ backends, collector, tenantSearch, clock, log, host, publicUrl },
      site: openSite(SITES),
      routes: apiKeyRoutes({ keys }),
      credentials: password === undefined ? undefined : { username, password },
      port: DASHBOARD_PORT,
    }),
  )
  log.info({ host, port, asksForPassword: password !== undefined }, 'dashboard listens')
  return { port }
})

function backendConfig(name: ServiceName, settings: RoleContext<'dashboard'>['settings']): BackendConfig {
  const { title, setting } = SERVICES[name]
  const isSearch = name === 'search'
  const { SEARCH_USERNAME: user, SEARCH_PASSWORD: secret = '', SEARCH_CA_FILE: caFile } = settings
  const authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
  return {
    endpoint: settings[setting],
    title,
    headers: isSearch && user !== undefined ? { authorization } : {},
    ca: isSearch && caFile !== undefined ? readFileSync(caFile, 'utf8') : undefined,
    unreachable: cause =>
      name === 'collector' ? new CollectorUnreachable(cause) : new HttpError(502, `the ${title} cannot be reached`, {}, { cause }),
  }
}
