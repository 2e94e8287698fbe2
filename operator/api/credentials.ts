/** References to Secrets, directly or through an ExternalSecret. */
import { z } from 'zod'
import { dataKey, described, localReference, objectName } from './schema.ts'

/** Setting name → key in the Secret, where the key is not called like the setting. */
const KEYS = described(
  z.record(z.string(), dataKey('Key in the Secret.')).meta({ maxProperties: 16 }),
  'Setting name (such as SEARCH_PASSWORD; with a TicketingRoute the platform field, such as apiToken) to the key that holds it in the Secret.',
)

const SHAPE = {
  secret: described(localReference('Secret'), 'A Secret.').optional(),
  externalSecret: described(localReference('ExternalSecret'), 'An ExternalSecret; its target Secret is used once it is synced.').optional(),
  keys: KEYS.optional(),
}

export function credentials(description: string) {
  return described(z.object(SHAPE), description, {
    rule: 'has(self.secret) != has(self.externalSecret)',
    message: 'expected exactly one of secret and externalSecret',
  })
}
export type CredentialsSource = z.output<ReturnType<typeof credentials>>

/** One key of one Secret. */
export function secretKey(description: string, defaultKey: string) {
  return described(
    z.object({
      name: objectName('Name of the Secret, in the same namespace.'),
      key: dataKey(`Key in the Secret; ${defaultKey} when not given.`).optional(),
    }),
    description,
  )
}
