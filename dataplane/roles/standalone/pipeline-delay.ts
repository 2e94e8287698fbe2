/** Measures how long records wait from the collector until they are searchable. */
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

/** A step of the pipeline: the group that reads a topic. */
export interface Stage {
  readonly topic: string
  readonly groupId: string
}

export interface PipelineDelayDeps {
  readonly bus: Pick<Bus, 'describe' | 'committedOffsets'>
  readonly stages: readonly Stage[]
  readonly clock: Clock
}

export interface PipelineDelay {
  /** How long records wait in all stages, ms; a stage that does not move at all does not count. */
  currentMs(): number
  stop(): void
}

const LOOK_EVERY_MS = 200
/** Looks that are remembered: longer delays are taken for this long. */
const MAX_LOOKS = 300
/** A stage that has read nothing for so long waits for something else than its work: the search store, say. */
const STUCK_MS = 5_000

/** A look at a topic: how many records had come. */
interface Look {
  readonly ms: number
  readonly end: number
}

interface StageState {
  readonly looks: Look[]
  /** Records read. */
  read: number
  movedMs: number
  delayMs: number
}

/** Looks again and again at how far the groups are, and at when the records they have reached had come. */
export function watchPipelineDelay({ bus, stages, clock }: PipelineDelayDeps): PipelineDelay {
  const states = stages.map((): StageState => ({ looks: [], read: 0, movedMs: clock.nowMs(), delayMs: 0 }))
  const stopped = new AbortController()

  const look = async () => {
    const [{ partitions }, ...committed] = await Promise.all([
      bus.describe(),
      ...stages.map(({ groupId }) => bus.committedOffsets(groupId)),
    ])
    const ms = clock.nowMs()
    for (const [i, { topic }] of stages.entries()) {
      const own = partitions.filter(partition => partition.topic === topic)
      const end = own.reduce((sum, { endOffset }) => sum + endOffset, 0)
      const next = new Map(committed[i]!.filter(offset => offset.topic === topic).map(({ partition, offset }) => [partition, offset]))
      const read = own.reduce((sum, { partition, startOffset }) => sum + Math.max(next.get(partition) ?? 0, startOffset), 0)
      note(states[i]!, { ms, end }, read)
    }
  }
  const run = async () => {
    while (!stopped.signal.aborted) {
      // A bus that cannot be asked just now: what was known last stays.
      await look().catch(() => undefined)
      await clock.sleep(LOOK_EVERY_MS, stopped.signal)
    }
  }
  void run()
  return {
    currentMs: () => states.reduce((sum, { delayMs }) => sum + delayMs, 0),
    stop: () => stopped.abort(),
  }
}

/** The delay is the time since when the first record waits that is not read. Looks at what is read long since are dropped. */
function note(state: StageState, now: Look, read: number): void {
  const { looks } = state
  if (read !== state.read || read >= now.end) state.movedMs = now.ms
  state.read = read
  looks.push(now)
  if (looks.length > MAX_LOOKS) looks.shift()
  while (looks.length > 1 && looks[1]!.end <= read) looks.shift()
  const isStuck = now.ms - state.movedMs > STUCK_MS
  state.delayMs = isStuck || read >= now.end ? 0 : now.ms - looks[0]!.ms
}
