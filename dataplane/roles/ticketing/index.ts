import { createDeclaredTicketing } from '../../adapters/declared-ticketing/declared-ticketing.ts'
import { defineRole, type RoleContext } from '../role.ts'
import { createSecretCipher, parseEncryptionKeys } from './config/secret-cipher.ts'
import { startTicketing } from './ticketing.ts'

export const start = defineRole(async ({ settings, log, clock }: RoleContext<'ticketing'>, { keep, backends }) => {
  const { HOST: host, TICKETING_PORT, SEARCH_ENDPOINT: searchEndpoint } = settings
  const store = await backends.searchStore(settings)
  const declared = keep(createDeclaredTicketing(settings.TICKETING_CONFIG_DIR, { clock, log }))
  await declared.start()
  const cipher = createSecretCipher(parseEncryptionKeys(settings.ENCRYPTION_KEY))
  const allowsPrivateTargets = settings.ALLOW_PRIVATE_TARGETS === 'true'
  const { port } = keep(await startTicketing({ store, clock, log, declared, cipher, allowsPrivateTargets, host, port: TICKETING_PORT }))
  log.info({ host, port, searchEndpoint, storesSecrets: cipher.canSeal }, 'ticketing listens')
  return { port }
})
