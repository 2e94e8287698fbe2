import { consume } from './consume.ts'
import { nextOffsets, type RunnerDeps } from './work.ts'

/** Consumes, processes, waits for the output, then commits: what was not committed is processed again. See `consume` for when it ends. */
export function runAtLeastOnce(deps: RunnerDeps): Promise<void> {
  const { bus, work } = deps
  return consume(deps, async (records, subscription) => ({
    output: work.handle(records, bus),
    commit: () => subscription.commit(nextOffsets(records)),
    giveUp: async () => undefined,
  }))
}
