/** `logpipeline demo`: plays a small shop that breaks, so that a new user sees an incident. */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { EXIT, refusalsOf, type Terminal } from '../../command-line/command.ts'
import { obey } from '../../command-line/words.ts'
import { loadSetting } from '../../config/environment.ts'
import { createCollector } from './collector.ts'
import { DemoProblem } from './demo-problem.ts'
import { FAULT_NAMES, FAULTS } from './faults.ts'
import { createIncidents } from './incidents.ts'
import { DEMO_USAGE, type DemoOptions, parseDemoOptions } from './options.ts'
import { playShop } from './play.ts'

const refuse = refusalsOf('demo')

/** Runs until its incident is there (`--at-once`) or a signal comes, and returns the exit code. */
export function runDemo(args: readonly string[], terminal: Terminal = process): Promise<number> {
  return obey(
    parseDemoOptions(args, { tenant: () => loadSetting('collector', 'SERVICE_TENANT_ID') }),
    { usage: DEMO_USAGE, refuse },
    terminal,
    async options => {
      if (options !== 'list') return await play(options, terminal)
      terminal.stdout.write(FAULT_NAMES.map(name => `${name.padEnd(20)} ${FAULTS[name].summary}\n`).join(''))
      return EXIT.done
    },
  )
}

async function play(options: DemoOptions, { stdout, stderr }: Terminal): Promise<number> {
  const interrupt = new AbortController()
  const stop = () => interrupt.abort()
  for (const name of SIGNALS) process.once(name, stop)
  try {
    const isFound = await playShop(options, {
      collector: createCollector(options, systemClock),
      incidents: createIncidents(options),
      clock: systemClock,
      tell: text => stdout.write(`${text}\n`),
      signal: interrupt.signal,
    })
    if (isFound) return EXIT.done
    return refuse({ stderr }, 'there is no incident with a cause', EXIT.failed)
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.done
    if (!(error instanceof DemoProblem)) throw error
    return refuse({ stderr }, error.message, EXIT.failed)
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
