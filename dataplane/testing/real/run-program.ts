import { spawnSync } from 'node:child_process'

/** Runs a program to its end; its standard output. Throws with all it said when it fails. */
export function runProgram(program: string, args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (error !== undefined || status !== 0) throw new Error(`${program} ${args.at(-1)}: ${error?.message ?? `${stdout}${stderr}`.trim()}`)
  return stdout
}
