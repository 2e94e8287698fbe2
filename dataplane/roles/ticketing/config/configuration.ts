/** The half of the agent's API that callers configure it by, put together; and what stands in for parts that are not there. */
import type { Route } from '../../../http/route.ts'
import type { ModelProbe } from '../../../ports/model-probe.ts'
import { type WebhookDeps, webhookRoutes } from '../webhooks/webhook-routes.ts'
import { type ConfigDeps, configRoutes } from './config-routes.ts'
import { type ConnectionDeps, connectionRoutes } from './connection-routes.ts'
import { createSecretCipher, type SecretCipher } from './secret-cipher.ts'
import { createTicketingConfig, type RememberingConfigSource } from './ticketing-config.ts'

export interface Configuration {
  /** Default: without a key. */
  readonly cipher?: SecretCipher
  /** Default: one of its own. */
  readonly config?: RememberingConfigSource
  /** Default: no. */
  readonly allowsPrivateTargets?: boolean
  /** Default: no platform can be reached. */
  readonly testPlatform?: ConnectionDeps['testPlatform']
  /** Default: no model can be reached. */
  readonly models?: ModelProbe
}

export interface ConfigurationDeps
  extends Configuration,
    Pick<ConfigDeps, 'store' | 'clock' | 'log' | 'declared'>,
    Pick<WebhookDeps, 'applyChange'> {}

const UNREACHABLE = 'this version cannot reach it'
const NO_MODELS: ModelProbe = {
  test: async () => ({ ok: false, message: UNREACHABLE }),
  status: async () => ({ available: false, error: UNREACHABLE }),
}

export function configurationRoutes(deps: ConfigurationDeps): readonly Route[] {
  const { store, clock, log, declared, applyChange, allowsPrivateTargets = false, models = NO_MODELS } = deps
  const { cipher = createSecretCipher([]), testPlatform = async () => ({ ok: false, message: UNREACHABLE }) } = deps
  const { config = createTicketingConfig({ store, clock, declared, cipher }) } = deps
  return [
    ...configRoutes({ store, clock, log, declared, cipher, config, allowsPrivateTargets }),
    ...connectionRoutes({ store, clock, cipher, config, allowsPrivateTargets, testPlatform, models }),
    ...webhookRoutes({ store, config, applyChange }),
  ]
}
