/** `logpipeline demo platforms`: stand-ins for the ticket platforms on this machine. */
import { type CommandDeps, EXIT, PROCESS, refusalsOf } from '../../command-line/command.ts'
import { readInteger } from '../../command-line/option-values.ts'
import { obey, parseWords } from '../../command-line/words.ts'
import { loadSetting } from '../../config/environment.ts'
import { PORTS } from '../../contract/roles.ts'
import { describeProblem } from '../../process/describe-problem.ts'
import { runUntilSignal } from '../../process/run-until-signal.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { pasteCommands } from './index-page.ts'
import type { StubAddresses } from './settings.ts'
import { STUB_NAMES, startStubPlatforms } from './start.ts'

const DEFAULT_PORT_BASE = 18_100
const MAX_PORT_BASE = 65_535 - STUB_NAMES.length

const USAGE = `Usage: logpipeline demo platforms [--port-base N] [--host HOST]

Starts stand-ins for PagerDuty, Jira Cloud, ServiceNow, Opsgenie, Slack and a mail server, which keep the real contracts. Each has a page that
shows what arrived; the first page lists them, with the settings that make logpipeline send its tickets there (to its TICKETING_PORT on this
machine). Nothing is kept on disk.

  --port-base N   the first of ${STUB_NAMES.length + 1} ports, 0 for free ones (default ${DEFAULT_PORT_BASE})
  --host HOST     where they listen (default 127.0.0.1; people who reach another one see all that arrives)

Exit code: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.`

const refuse = refusalsOf('demo platforms')

/** Runs until a signal and returns the exit code. */
export function runDemoPlatforms(args: readonly string[], deps: CommandDeps = PROCESS): Promise<number> {
  const options = {
    'port-base': { type: 'string', default: String(DEFAULT_PORT_BASE) },
    host: { type: 'string', default: '127.0.0.1' },
  } as const
  const words = parseWords(args, { options }, ({ values: { host, 'port-base': port } }, problems) => ({
    host,
    portBase: readInteger('--port-base', port, { min: 0, max: MAX_PORT_BASE }, problems),
  }))
  return obey(words, { usage: USAGE, refuse }, deps, async config => {
    // 0 is a free port, which nobody knows before the agent runs.
    const ticketingPort = loadSetting('ticketing', 'TICKETING_PORT', deps.environment) || PORTS.ticketing
    const log = createLogger({ level: 'warn', format: process.stdout.isTTY ? 'readable' : 'json' })
    try {
      const stubs = await startStubPlatforms({ ...config, ticketingPort })
      deps.stdout.write(banner(stubs.addresses, ticketingPort))
      return await runUntilSignal(async () => stubs, { log, clock: deps.clock, signals: process })
    } catch (error) {
      return refuse(deps, describeProblem(error), EXIT.failed)
    }
  })
}

function banner(at: StubAddresses, ticketingPort: number): string {
  return `
  The demo platforms are up

    All of them        ${at.index}/
    PagerDuty          ${at.pagerduty}/
    Jira Cloud         ${at.jira}/
    ServiceNow         ${at.servicenow}/
    Opsgenie           ${at.opsgenie}/
    Slack              ${at.slack}/
    E-mail             ${at.email}/  (SMTP on ${at.smtp.host}:${at.smtp.port})

  These make logpipeline send its tickets there:

    ${pasteCommands(at, ticketingPort).join('\n    ')}

  Ctrl-C stops them; what arrived is gone then.

`
}
