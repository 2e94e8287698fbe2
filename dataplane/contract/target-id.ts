/** Where tickets go: `<platform>`, or `<platform>:<name>` for a platform that is configured several times (Decisions 6). */
import { PLATFORM_NAMES, type PlatformName } from './platforms.ts'

export type TargetId = PlatformName | `${PlatformName}:${string}`

const TARGET_NAME = /^[a-z0-9-]{1,40}$/
export const TARGET_ID_RULE = `one of ${PLATFORM_NAMES.join(', ')}, alone or with a name behind a colon, such as slack:payments (1 to 40 of a-z, 0-9, -)`

export interface TargetParts {
  readonly platform: PlatformName
  readonly name?: string
}

/** Undefined when the text is no target id. */
export function parseTargetId(text: string): TargetParts | undefined {
  const colon = text.indexOf(':')
  const platform = PLATFORM_NAMES.find(known => known === (colon < 0 ? text : text.slice(0, colon)))
  if (platform === undefined) return undefined
  if (colon < 0) return { platform }
  const name = text.slice(colon + 1)
  return TARGET_NAME.test(name) ? { platform, name } : undefined
}

export function isTargetId(text: string): text is TargetId {
  return parseTargetId(text) !== undefined
}
