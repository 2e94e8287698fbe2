import { createDeclaredTicketing } from '../../adapters/declared-ticketing/declared-ticketing.ts'
import { createIncidentPlatforms } from '../../adapters/incident-platform/platforms.ts'
import { createOutboundAddresses } from '../../adapters/outbound-http/outbound-addresses.ts'
import { createOutboundHttp } from '../../adapters/outbound-http/outbound-http.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { createSecretCipher, parseEncryptionKeys } from './config/secret-cipher.ts'
import { startTicketing } from './ticketing.ts'

export const start = defineRole(async ({ settings, log, clock }: RoleContext<'ticketing'>, { keep, backends }) => {
  const { HOST: host, TICKETING_PORT: port, SEARCH_ENDPOINT: searchEndpoint, PUBLIC_URL } = settings
  const store = await backends.searchStore(settings)
  const declared = keep(createDeclaredTicketing(settings.TICKETING_CONFIG_DIR, { clock, log }))
  await declared.start()
  const cipher = createSecretCipher(parseEncryptionKeys(settings.ENCRYPTION_KEY))
  const allowsPrivateTargets = settings.ALLOW_PRIVATE_TARGETS === 'true'
  const addresses = createOutboundAddresses({ allowPrivate: allowsPrivateTargets })
  const outbound = keep(createOutboundHttp({ allowPrivate: allowsPrivateTargets, addresses }), part => part.close())
  const platforms = keep(createIncidentPlatforms({ outbound, addresses, clock }), part => part.close())
  const publicUrl = PUBLIC_URL?.replace(/\/+$/, '')
  const tickets = { platforms, ...(publicUrl !== undefined && { publicUrl }) }
  const listening = keep(await startTicketing({ store, clock, log, declared, cipher, allowsPrivateTargets, host, port, tickets }))
  log.info({ host, port: listening.port, searchEndpoint, storesSecrets: cipher.canSeal }, 'ticketing listens')
  return { port: listening.port }
})
