import { hostname } from 'node:os'
import { createDeclaredTicketing } from '../../adapters/declared-ticketing/declared-ticketing.ts'
import { createIncidentPlatforms } from '../../adapters/incident-platform/platforms.ts'
import { createLanguageModel } from '../../adapters/language-model/language-model.ts'
import { createOutboundAddresses, expectedInsteadOf } from '../../adapters/outbound-http/outbound-addresses.ts'
import { createOutboundHttp } from '../../adapters/outbound-http/outbound-http.ts'
import type { OwnServer } from '../../adapters/outbound-http/own-servers.ts'
import { proxyEnvironment } from '../../http/proxy-choice.ts'
import { portOf } from '../../text/port-of.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { createSecretCipher, parseEncryptionKeys } from './config/secret-cipher.ts'
import { startTicketing } from './ticketing.ts'

export const start = defineRole(async ({ settings, log, clock, standalone }: RoleContext<'ticketing'>, { keep, backends }) => {
  const { HOST: host, TICKETING_PORT, SEARCH_ENDPOINT: searchEndpoint, PUBLIC_URL: publicUrl, LLM_TOKENS_PER_HOUR } = settings
  const store = await backends.searchStore(settings)
  const declared = keep(createDeclaredTicketing(settings.TICKETING_CONFIG_DIR, { clock, log }))
  await declared.start()
  const cipher = createSecretCipher(parseEncryptionKeys(settings.ENCRYPTION_KEY))
  const allowsPrivateTargets = settings.ALLOW_PRIVATE_TARGETS === 'true'
  const ownServers = [serverAt(searchEndpoint), ...[TICKETING_PORT, ...(standalone?.ports ?? [])].map(port => ({ host, port }))]
  const addresses = createOutboundAddresses({ allowPrivate: allowsPrivateTargets, ownServers })
  const outbound = createOutboundHttp({ allowPrivate: allowsPrivateTargets, addresses, proxies: proxyEnvironment() })
  keep({ stop: () => outbound.close() })
  const fieldRules = {
    allowsPlainHttp: allowsPrivateTargets,
    refuseHost: (host: string) => expectedInsteadOf(host, { allowPrivate: allowsPrivateTargets }),
  }
  const platforms = createIncidentPlatforms({ outbound, addresses, clock })
  keep({ stop: () => platforms.close() })
  const { port } = keep(
    await startTicketing({
      ...{ store, clock, log, declared, cipher, fieldRules, host, port: TICKETING_PORT },
      tickets: {
        platforms,
        // The search store within standalone is that of a directory that is locked: no other standalone works on it.
        ...(standalone?.connectSearch === undefined
          ? { agentName: `${hostname()}:${TICKETING_PORT}` }
          : { agentName: 'standalone', isSole: true }),
        ...(publicUrl !== undefined && { publicUrl }),
      },
      languageModel: createLanguageModel({ outbound, clock }),
      tokensPerHour: LLM_TOKENS_PER_HOUR,
    }),
  )
  log.info({ host, port, searchEndpoint, storesSecrets: cipher.canSeal }, 'ticketing listens')
  return { port }
})

function serverAt(endpoint: string): OwnServer {
  const url = new URL(endpoint)
  return { host: url.hostname, port: portOf(url) }
}
