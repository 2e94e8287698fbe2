/** The settings of a target while rows are sent to it: whether they are still those of an attempt, and what its end says of others (Decisions 6). */
import { createHash } from 'node:crypto'
import type { Target } from '../../../domain/tickets/target.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import type { TicketingConfigSource } from '../../../ports/ticketing-config.ts'

interface SettingsDeps {
  readonly clock: Clock
  readonly config: TicketingConfigSource
}

/** How often an attempt looks whether its settings still count. */
const WATCH_MS = 1_000

/** The settings of a target as a text that shows none of them. */
export function fingerprint({ enabled, fields }: Target): string {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (const char of `${enabled}${JSON.stringify(fields)}`) {
    const code = char.codePointAt(0)!
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x5bd1e995) ^ (b >>> 15)
  }
  return `${a}/${b}`
}

/** The settings as they are stored with a row: no one finds the secrets in them, and they are no other row's. */
export function settingsName({ enabled, fields }: Target, threadId: string): string {
  return createHash('sha256')
    .update(`${threadId} ${enabled} ${JSON.stringify(fields)}`)
    .digest('hex')
    .slice(0, 16)
}

/** The settings that a target has by now, `gone` where it has none; undefined where they are those that an attempt was made with, or cannot be read. */
export async function settingsSince(config: TicketingConfigSource, tenant: string, target: Target): Promise<Target | 'gone' | undefined> {
  const loaded = await config.load(tenant).catch(() => undefined)
  if (loaded === undefined || loaded.unusable?.has(target.id)) return undefined
  const now = loaded.targets.get(target.id)
  if (now === undefined) return 'gone'
  return fingerprint(now) === fingerprint(target) ? undefined : now
}

/** Looks now and then whether the settings of an attempt still count; aborts when they do not, as the old address may hold it up for long. */
export function watchSettings({ clock, config }: SettingsDeps, tenant: string, target: Target) {
  const outdated = new AbortController()
  const ended = new AbortController()
  let settings: Target | 'gone' | undefined
  const watch = async () => {
    for (;;) {
      await clock.sleep(WATCH_MS, ended.signal)
      if (ended.signal.aborted) return
      settings = await settingsSince(config, tenant, target)
      if (settings !== undefined) return outdated.abort()
    }
  }
  void watch()
  return { signal: outdated.signal, settings: () => (outdated.signal.aborted ? settings : undefined), end: () => ended.abort() }
}

/** Where a target is: what is at one address is at no other. */
function addressOf({ fields }: Target): string {
  const { baseUrl, instanceUrl, apiBaseUrl, webhookUrl, host } = fields
  return JSON.stringify([baseUrl, instanceUrl, apiBaseUrl, webhookUrl, host])
}

/** How an attempt ended with settings that count no longer: that says nothing of the new ones. */
export function againWith(outcome: TicketOutcome, before: Target, now: Target | 'gone'): TicketOutcome {
  if (outcome.kind === 'delivered') return outcome
  const isElsewhere = now === 'gone' || addressOf(before) !== addressOf(now)
  const { isAmbiguous, isUnanswered } = outcome.kind === 'retryable' ? outcome : {}
  return {
    kind: 'retryable',
    reason: `${outcome.reason}; the settings have changed since, and are tried next`,
    settingsChanged: true,
    ...(isAmbiguous && !isElsewhere && { isAmbiguous }),
    ...(isUnanswered && !isElsewhere && { isUnanswered }),
  }
}
