import { createDeclaredTicketing } from '../../adapters/declared-ticketing/declared-ticketing.ts'
import { createIncidentPlatforms } from '../../adapters/incident-platform/platforms.ts'
import { createOutboundAddresses } from '../../adapters/outbound-http/outbound-addresses.ts'
import { createOutboundHttp } from '../../adapters/outbound-http/outbound-http.ts'
import type { Target } from '../../domain/tickets/target.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { createSecretCipher, parseEncryptionKeys } from './config/secret-cipher.ts'
import { startTicketing } from './ticketing.ts'

export const start = defineRole(async ({ settings, log, clock }: RoleContext<'ticketing'>, { keep, backends }) => {
  const { HOST: host, TICKETING_PORT, SEARCH_ENDPOINT: searchEndpoint } = settings
  const store = await backends.searchStore(settings)
  const declared = keep(createDeclaredTicketing(settings.TICKETING_CONFIG_DIR, { clock, log }))
  await declared.start()
  const cipher = createSecretCipher(parseEncryptionKeys(settings.ENCRYPTION_KEY))
  const allowPrivate = settings.ALLOW_PRIVATE_TARGETS === 'true'
  const addresses = createOutboundAddresses({ allowPrivate })
  const outbound = keep(createOutboundHttp({ allowPrivate, addresses }), http => http.close())
  const platforms = keep(createIncidentPlatforms({ outbound, addresses, clock }), all => all.close())
  const testPlatform = (target: Target, signal: AbortSignal) => platforms[target.platform].test(target, signal)
  const configuration = { cipher, allowsPrivateTargets: allowPrivate, testPlatform }
  const { port } = keep(await startTicketing({ store, clock, log, declared, configuration, host, port: TICKETING_PORT }))
  log.info({ host, port, searchEndpoint, storesSecrets: cipher.canSeal }, 'ticketing listens')
  return { port }
})
