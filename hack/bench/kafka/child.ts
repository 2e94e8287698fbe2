/** Processes of the benchmark that do a role's work. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** As `hack/logpipeline` starts the roles. */
const NODE_OPTIONS = [
  '--disable-warning=ExperimentalWarning',
  '--single-threaded-gc',
  '--max-semi-space-size=8',
  '--heap-growing-percent=150',
]
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '98304', MALLOC_TOP_PAD_: '32768' }

/** Runs a file of this folder in a process of its own. */
export function startChild(file: string): ChildProcess {
  return fork(join(import.meta.dirname, file), { execArgv: NODE_OPTIONS, env: { ...process.env, ...MALLOC }, stdio: 'inherit' })
}

/** Rejects when the process ends, or says something else. */
export async function nextMessage<M extends { readonly kind: string }, K extends M['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<M, { readonly kind: K }>> {
  const waiting = new AbortController()
  const { signal } = waiting
  const gone = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${code}`)
  })
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), gone])) as [M]
    if (message.kind !== kind) throw new Error(`expected ${kind} of a process of the benchmark, got ${message.kind}`)
    return message as Extract<M, { readonly kind: K }>
  } finally {
    gone.catch(() => undefined) // the end of the waiting is no error
    waiting.abort()
  }
}
