/** `logpipeline demo`: plays a small shop that breaks, so that a new user sees an incident. */
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createCollector } from './collector.ts'
import { DemoProblem } from './demo-problem.ts'
import { FAULT_NAMES, FAULTS } from './faults.ts'
import { createIncidents } from './incidents.ts'
import { DEMO_USAGE, type DemoOptions, parseDemoOptions } from './options.ts'
import { playShop } from './play.ts'

const EXIT = { done: 0, failure: 1, usage: 64 } as const

export interface DemoDeps {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Runs until its incident is there (`--at-once`) or a signal comes, and returns the exit code. */
export async function runDemo(args: readonly string[], { stdout, stderr }: DemoDeps = process): Promise<number> {
  const parsed = parseDemoOptions(args)
  switch (parsed.kind) {
    case 'help':
      stdout.write(`${DEMO_USAGE}\n`)
      return EXIT.done
    case 'list':
      stdout.write(FAULT_NAMES.map(name => `${name.padEnd(20)} ${FAULTS[name].summary}\n`).join(''))
      return EXIT.done
    case 'problems':
      for (const problem of parsed.problems) stderr.write(`logpipeline demo: ${problem}\n`)
      return EXIT.usage
    case 'run':
      return await play(parsed.options, { stdout, stderr })
  }
}

async function play(options: DemoOptions, { stdout, stderr }: DemoDeps): Promise<number> {
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
    stderr.write('logpipeline demo: there is no incident with a cause\n')
    return EXIT.failure
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.done
    if (!(error instanceof DemoProblem)) throw error
    stderr.write(`logpipeline demo: ${error.message}\n`)
    return EXIT.failure
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
