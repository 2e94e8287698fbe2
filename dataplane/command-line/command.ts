/** Common to the commands of `logpipeline`: exit codes, refusals, and their ways to the terminal, the clock and the settings. */
import { systemClock } from '../adapters/clock/system-clock.ts'
import type { Environment } from '../config/environment.ts'
import type { Clock } from '../ports/clock.ts'

/** `usage` as in sysexits(3). */
export const EXIT = { done: 0, failed: 1, usage: 64, interrupted: 130 } as const

/** Where a command writes. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

export interface CommandDeps extends Terminal {
  readonly clock: Clock
  /** Default: that of the process. */
  readonly environment?: Environment
}

export const PROCESS: CommandDeps = { stdout: process.stdout, stderr: process.stderr, clock: systemClock }

/** Makes a command's way to say why it does nothing: a line for each problem; returns the exit code. */
export function refusalsOf(command: string) {
  return ({ stderr }: Pick<Terminal, 'stderr'>, problems: string | readonly string[], code: number): number => {
    for (const problem of [problems].flat()) stderr.write(`logpipeline ${command}: ${problem}\n`)
    return code
  }
}
