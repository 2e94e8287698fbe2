/** A place that tickets are sent to, with all that it takes to send there (Spec: Ticketing runtime configuration; Decisions 6). */
import type { PlatformName } from '../../contract/platforms.ts'
import type { TargetId } from '../../contract/target-id.ts'

/** E-mail `to` may be a list. */
export type FieldValue = string | number | boolean | readonly string[]

export interface Target {
  readonly id: TargetId
  readonly platform: PlatformName
  readonly enabled: boolean
  /** All fields by their names in `PLATFORMS`, secret ones in the clear: never to be logged or answered. */
  readonly fields: Readonly<Record<string, FieldValue>>
}

const REMOVED = 'is no longer configured'
const SWITCHED_OFF = 'is switched off'

/** Why nothing is sent to a target, for people; undefined where it is configured and switched on. */
export function whyGone(target: Pick<Target, 'enabled'> | undefined, id: string): string | undefined {
  if (target === undefined) return `${id} ${REMOVED}`
  return target.enabled ? undefined : `${id} ${SWITCHED_OFF}`
}

/** Whether a reason is one of `whyGone`. */
export function isGone(reason: string): boolean {
  return reason.endsWith(REMOVED) || reason.endsWith(SWITCHED_OFF)
}
