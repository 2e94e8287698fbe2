/** Settings that a role would refuse, for tests. */
import { z } from 'zod'
import { settingSchema, settingsOfRole } from '../../../dataplane/contract/env.ts'
import type { RoleName } from '../../../dataplane/contract/roles.ts'

/** Problems of settings, which are given as texts by name: unknown names, values of another form, missing ones. Empty: the role takes them. */
export function settingsIssues(role: RoleName, texts: Readonly<Record<string, unknown>>): readonly z.core.$ZodIssue[] {
  const shape = Object.fromEntries(settingsOfRole(role).map(([name, setting]) => [name, settingSchema(setting, role)]))
  return z.strictObject(shape).safeParse(texts).error?.issues ?? []
}
