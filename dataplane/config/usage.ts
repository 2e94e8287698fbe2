/** The help text, from the tables of roles and commands. */
import { settingsOfRole, shownDefaultOf } from '../contract/env.ts'
import { COMMANDS, ROLE_NAMES, ROLES, type RoleName } from '../contract/roles.ts'
import type { Setting } from '../contract/setting.ts'

export function usage(): string {
  const commandList = Object.values(COMMANDS)
  const width = Math.max(...[...ROLE_NAMES, ...commandList.map(command => command.usage)].map(name => name.length))
  const row = (name: string, text: string) => `  ${name.padEnd(width)} ${text}`
  const roles = ROLE_NAMES.map(name => row(name, `${ROLES[name].summary}${portsOf(name)}`))
  const commands = commandList.map(command => row(command.usage, command.summary))
  return [
    'Usage: logpipeline ROLE | COMMAND | --help | --version',
    '',
    'Roles:',
    ...roles,
    '',
    'Commands:',
    ...commands,
    '',
    'Settings are environment variables; any NAME may be given as NAME_FILE, the path of a file that holds the value.',
    '`logpipeline ROLE --help` lists those of a role, `logpipeline config check ROLE` their values.',
    '',
  ].join('\n')
}

/** The text of `logpipeline ROLE --help`. */
export function roleUsage(role: RoleName): string {
  const { summary, listens, reads, writes } = ROLES[role]
  const settings = settingsOfRole(role)
  const width = Math.max(...settings.map(([name]) => name.length))
  const portRows = listens.map(({ setting, port, speaks }) => `  ${port} ${speaks} (${setting})`)
  const settingRows = settings.map(([name, setting]) => `  ${name.padEnd(width)} ${setting.description}${defaultNote(setting, role)}`)
  return [
    `Usage: logpipeline ${role}`,
    '',
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    ...(reads === '' ? [] : [`Reads ${reads}.`]),
    ...(writes === '' ? [] : [`Writes ${writes}.`]),
    ...(portRows.length === 0 ? [] : ['', 'Listens on:', ...portRows]),
    '',
    'Settings:',
    ...settingRows,
    '',
    `\`logpipeline config check ${role}\` shows their values and lists every problem.`,
    '',
  ].join('\n')
}

function defaultNote(setting: Setting, role: RoleName): string {
  if (setting.requiredFor?.includes(role)) return ' (required)'
  const value = shownDefaultOf(setting, role)
  return value === undefined ? '' : ` (default ${value})`
}

function portsOf(name: (typeof ROLE_NAMES)[number]): string {
  const ports = ROLES[name].listens.map(({ port }) => port)
  return ports.length === 0 ? '' : ` (${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')})`
}
