import type { KubernetesObject } from '../../kube/object.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { KindView } from './cluster-watch.ts'
import { type Observation, type Source, WAIT_MS } from './source.ts'

export interface WatchedSourceDeps<T> {
  readonly view: () => KindView
  readonly read: (objects: readonly KubernetesObject[]) => T
  readonly clock: Clock
}

/** How often the source checks whether the first list has come. */
const LOOK_MS = 20

/** A source over a watched kind: a request to the agent causes none to the cluster. A list that was complete once stays known. */
export function createWatchedSource<T>({ view, read, clock }: WatchedSourceDeps<T>): Source<T> {
  const stopping = new AbortController()
  let isKnown = false

  const last = (): Observation<T> => {
    const { state, isComplete, objects, ageMs } = view()
    isKnown ||= isComplete
    return isKnown ? { state, value: read(objects), ageMs } : { state, value: undefined, ageMs: undefined }
  }

  return {
    last,
    async observe() {
      const untilMs = monotonicMs(clock) + WAIT_MS
      while (view().state === 'unknown' && monotonicMs(clock) < untilMs && !stopping.signal.aborted)
        await clock.sleep(LOOK_MS, stopping.signal)
      return last()
    },
    start() {},
    async stop() {
      stopping.abort()
    },
  }
}
