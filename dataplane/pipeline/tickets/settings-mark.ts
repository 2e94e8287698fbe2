import { createHmac, randomBytes } from 'node:crypto'
import type { TargetId } from '../../contract/target-id.ts'
import type { TicketingConfig } from '../../ports/ticketing-config.ts'

/** Names the settings of a target, so that a change shows, and nobody can guess a secret by it: it is stored beside what was refused. */
export type SettingsMark = (config: Pick<TicketingConfig, 'targets' | 'unusable'>, id: TargetId) => string

/** With the same key, marks are the same in each process. Default: a key of this process's own. */
export function createSettingsMark(key: Uint8Array = randomBytes(32)): SettingsMark {
  return ({ targets, unusable }, id) => {
    const target = targets.get(id)
    const settings = target === undefined ? { problem: unusable?.get(id) ?? null } : { enabled: target.enabled, fields: target.fields }
    return createHmac('sha256', key).update(JSON.stringify(settings)).digest('base64url')
  }
}
