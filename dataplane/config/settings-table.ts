/** The table of docs/settings.md, from the settings themselves. */
import { SETTINGS, shownDefaultOf } from '../contract/env.ts'
import { ROLE_NAMES, type RoleName } from '../contract/roles.ts'
import type { Setting } from '../contract/setting.ts'

/** Markdown, without a line break at the end. */
export function settingsTable(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const roles = setting.roles.length === ROLE_NAMES.length ? 'all' : setting.roles.join(', ')
    return `| \`${name}\` | ${setting.description} | ${defaultText(setting)} | ${cell(setting.value.expected)} | ${roles} |`
  })
  return ['| setting | what it is | default | takes | roles |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** `a`, or `a (collector, bridge: b)` where roles differ. */
function defaultText(setting: Setting): string {
  const byValue = new Map<string, RoleName[]>()
  for (const role of setting.roles) {
    const value = shownDefaultOf(setting, role)
    if (value !== undefined) byValue.set(value, [...(byValue.get(value) ?? []), role])
  }
  const everywhere = byValue.size === 1 && [...byValue.values()][0]!.length === setting.roles.length
  const defaults = [...byValue].map(([value, roles]) => (everywhere ? `\`${value}\`` : `${roles.join(', ')}: \`${value}\``))
  return [...defaults, ...(setting.requiredFor === undefined ? [] : [`${setting.requiredFor.join(', ')}: required`])].join('; ')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
