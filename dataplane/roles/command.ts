/** Common to the commands of `logpipeline`: exit codes, and their ways to the terminal, the clock and the settings. */
import { systemClock } from '../adapters/clock/system-clock.ts'
import type { Environment } from '../config/environment.ts'
import type { Clock } from '../ports/clock.ts'

export const EXIT = { done: 0, failed: 1, usage: 64 } as const

export interface CommandDeps {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly clock: Clock
  /** Default: that of the process. */
  readonly environment?: Environment
}

export const PROCESS: CommandDeps = { stdout: process.stdout, stderr: process.stderr, clock: systemClock }
