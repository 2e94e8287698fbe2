/** The words behind a command: read in one way, so that each command answers `--help` and refuses what is wrong alike. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { EXIT, type Terminal } from './command.ts'

export type Words<T> = { readonly help: true } | { readonly problems: readonly string[] } | { readonly config: T }

export interface WordForms<O> {
  readonly options: O
  /** Default: words that belong to no option are refused. */
  readonly allowPositionals?: boolean
}

const HELP = { type: 'boolean', short: 'h' } as const

type Given<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ args: string[]; options: O; allowPositionals: true }>>

/** Gives `read` the options and other words. All problems that it adds are told at once. `--help` and `-h` go before them. */
export function parseWords<const O extends ParseArgsOptionsConfig, T>(
  args: readonly string[],
  { options, allowPositionals = false }: WordForms<O>,
  read: (given: Given<O>, problems: string[]) => T,
): Words<T> {
  let given: Given<O>
  try {
    given = parseArgs({ args: [...args], options: { help: HELP, ...options }, allowPositionals }) as unknown as Given<O>
  } catch (error) {
    return { problems: [(error as Error).message] }
  }
  if ((given.values as { readonly help?: boolean }).help === true) return { help: true }
  const problems: string[] = []
  const config = read(given, problems)
  return problems.length > 0 ? { problems } : { config }
}

/** The exit code of a command, whose work begins where its words are right. */
export interface Manual {
  readonly usage: string
  /** As `refusalsOf` makes it. */
  readonly refuse: (terminal: Pick<Terminal, 'stderr'>, problems: readonly string[], code: number) => number
}

export async function obey<T>(
  words: Words<T>,
  { usage, refuse }: Manual,
  terminal: Terminal,
  work: (config: T) => number | Promise<number>,
): Promise<number> {
  if ('config' in words) return await work(words.config)
  if ('problems' in words) return refuse(terminal, words.problems, EXIT.usage)
  terminal.stdout.write(`${usage}\n`)
  return EXIT.done
}
