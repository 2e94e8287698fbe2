/** What a role would refuse of its settings. For tests. */
import { z } from 'zod'
import { settingSchema, settingsOfRole } from '../../../dataplane/contract/env.ts'
import type { RoleName } from '../../../dataplane/contract/roles.ts'

/** Of the texts by name, of those settings that are set: unknown names, values of another form, what is missing. Empty: the role takes them. */
export function settingsIssues(role: RoleName, texts: Readonly<Record<string, unknown>>): readonly z.core.$ZodIssue[] {
  const shape = Object.fromEntries(settingsOfRole(role).map(([name, setting]) => [name, settingSchema(setting, role)]))
  return z.strictObject(shape).safeParse(texts).error?.issues ?? []
}
