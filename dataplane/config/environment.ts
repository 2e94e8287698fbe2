/** Reads settings from environment variables; the only place that looks at `process.env`. */
import { defaultOf, kindOf, type SettingName, type SettingsOf, type SettingsTable, settingSchema, settingsOfRole } from '../contract/env.ts'
import type { RoleName } from '../contract/roles.ts'
import type { Setting } from '../contract/setting.ts'
import { findCrossProblems } from './cross-checks.ts'
import { quotedStart } from './quoted-start.ts'
import { readValueFile, UnusableFile } from './value-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings are unusable; `problems` has one line for each fault found. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * The frozen settings of a role. Any `NAME` may be given as `NAME_FILE`, the path of a file that holds the value;
 * an empty value counts as unset. Throws `ConfigError` with every problem at once.
 */
export function loadSettings<R extends RoleName>(role: R, environment: Environment = process.env): SettingsOf<R> {
  return readSettings(role, settingsOfRole(role), environment) as SettingsOf<R>
}

/** Settings of a role for a command that needs no others, whose values do not matter. Names come with those that they `needs`. Throws `ConfigError`. */
export function loadSomeSettings<R extends RoleName, N extends SettingName & keyof SettingsOf<R>>(
  role: R,
  names: readonly N[],
  environment: Environment = process.env,
): Pick<SettingsOf<R>, N> {
  const wanted = settingsOfRole(role).filter(([name]) => names.some(each => each === name))
  return readSettings(role, wanted, environment) as Pick<SettingsOf<R>, N>
}

export function loadSetting<R extends RoleName, N extends SettingName & keyof SettingsOf<R>>(
  role: R,
  name: N,
  environment?: Environment,
): SettingsOf<R>[N] {
  return loadSomeSettings(role, [name], environment)[name]
}

function readSettings(role: RoleName, table: SettingsTable, environment: Environment): unknown {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of table) {
    const { value, problem } = readSetting(role, name, setting, environment)
    if (problem !== undefined) problems.push(problem)
    if (problem !== undefined || value !== undefined) values[name] = value ?? null
  }
  problems.push(...findCrossProblems(table, values))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(values)
}

function readSetting(
  role: RoleName,
  name: SettingName,
  setting: Setting,
  environment: Environment,
): { readonly value?: unknown; readonly problem?: string } {
  const { text, problem } = readText(name, environment)
  if (problem !== undefined) return { problem }
  const parsed = settingSchema(setting, role).safeParse(text)
  return parsed.success ? { value: parsed.data } : { problem: describe(name, setting, kindOf(setting, role).expected, text) }
}

/** One line per setting of the role with the value in force, secrets masked. */
export function describeSettings<R extends RoleName>(role: R, settings: SettingsOf<R>): readonly string[] {
  const values = settings as Readonly<Record<string, unknown>>
  return settingsOfRole(role).map(([name, setting]) => {
    const value = values[name]
    if (value === undefined) return `${name} (unset)`
    const text = setting.secret ? '****' : String(value)
    return `${name}=${text}${text === defaultOf(setting, role) ? ' (default)' : ''}`
  })
}

function readText(name: SettingName, environment: Environment): { readonly text?: string | undefined; readonly problem?: string } {
  const direct = environment[name] || undefined
  const path = environment[`${name}_FILE`] || undefined
  if (path === undefined) return { text: direct }
  if (direct !== undefined) return { problem: `${name}: expected either ${name} or ${name}_FILE, seen both` }
  try {
    return { text: readValueFile(path) || undefined }
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error
    return { problem: `${name}_FILE: expected ${error.expected}, seen ${quotedStart(path)} (${error.seen})` }
  }
}

function describe(name: string, setting: Setting, expected: string, seen: string | undefined): string {
  const shown = seen === undefined ? 'nothing' : setting.secret ? '(a secret)' : quotedStart(seen.replace(/\/\/.*@/, '//****@'))
  return `${name}: expected ${expected}, seen ${shown}`
}
