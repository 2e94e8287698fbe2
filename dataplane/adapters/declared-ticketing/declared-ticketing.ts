/** Reads the declared configuration of ticketing from the files of a directory, and reads it again when they change. */
import type { Clock } from '../../ports/clock.ts'
import type { DeclaredLayer, DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import type { Log } from '../../telemetry/log.ts'
import { readDeclaredFiles } from './declared-files.ts'

export interface DeclaredTicketingDeps {
  readonly clock: Clock
  readonly log: Log
}

/** How often the files are compared. A watch on the directory would miss links that are turned. */
const LOOK_MS = 5_000

/** The declared configuration in the files of a directory. A missing directory declares nothing. */
export function createDeclaredTicketing(directory: string, { clock, log }: DeclaredTicketingDeps): DeclaredTicketingSource {
  const stopping = new AbortController()
  let layer: DeclaredLayer | undefined
  /** Stands for the layer, to tell whether it has changed. */
  let text = ''
  let problems: readonly string[] = []
  let looking: Promise<void> | undefined

  const look = async () => {
    const read = await readDeclaredFiles(directory)
    if (!read.ok) {
      if (read.problems.join() !== problems.join())
        log.error({ directory, problems: read.problems }, 'the declared ticketing configuration cannot be used: the last one stays')
      problems = read.problems
      return
    }
    if (problems.length > 0) log.info({ directory }, 'the declared ticketing configuration can be used again')
    problems = []
    const newText = JSON.stringify(read.value) ?? ''
    if (newText === text) return
    text = newText
    layer = read.value
    log.info({ directory, ...describe(layer) }, 'declared ticketing configuration read')
  }
  const keepLooking = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(LOOK_MS, stopping.signal)
      if (!stopping.signal.aborted) await look()
    }
  }

  return {
    current: () => layer,
    problems: () => problems,
    async start() {
      if (looking !== undefined) return
      await look()
      looking = keepLooking()
    },
    async stop() {
      stopping.abort()
      await looking
    },
  }
}

/** Without values, which may be secret. */
function describe(layer: DeclaredLayer | undefined) {
  if (layer === undefined) return { declared: 'nothing' }
  return { platforms: Object.keys(layer.platforms), routes: layer.routes.length, anomaly: layer.anomaly, llm: layer.llm?.provider }
}
