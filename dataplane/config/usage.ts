/** The help text, from the tables of roles and commands. */
import { COMMANDS, ROLE_NAMES, ROLES } from '../contract/roles.ts'

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
    '`logpipeline config check ROLE` shows those of a role with their values.',
    '',
  ].join('\n')
}

function portsOf(name: (typeof ROLE_NAMES)[number]): string {
  const ports = ROLES[name].listens.map(({ port }) => port)
  return ports.length === 0 ? '' : ` (${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')})`
}
