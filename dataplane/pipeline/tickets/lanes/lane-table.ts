/** The lanes that an agent knows: one for each target of a tenant, with the pauses that platforms asked for before it had them. */
import { parseTargetId, type TargetId } from '../../../contract/target-id.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import type { LaneOwners } from './lane-owners.ts'
import { recallLimits } from './recall-limits.ts'
import { createTargetLane, type TargetLane } from './target-lane.ts'
import { TARGET_LIMITS, type TargetLimits } from './target-limits.ts'

export interface LaneTableDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly owners: LaneOwners
  /** Default: those of the platforms. */
  readonly limits?: ((target: TargetId) => TargetLimits) | undefined
}

export interface LaneTable {
  /** The lane of a name, made where there is none yet. */
  of(name: string): TargetLane
  known(name: string): TargetLane | undefined
  /** Reads the rests that platforms asked for, where lanes have changed hands since the last time. */
  recall(): Promise<void>
}

/** Lanes that are remembered; idle ones leave first. */
export const MAX_LANES = 5_000

export function createLaneTable({ store, clock, owners, limits = limitsOf }: LaneTableDeps): LaneTable {
  const lanes = new Map<string, TargetLane>()
  /** Since when, as a generation of the owners, rests that platforms asked for are known. */
  let recalledGeneration: number | undefined

  const newLane = (name: string): TargetLane => {
    if (lanes.size >= MAX_LANES) for (const [other, lane] of lanes) if (lane.isIdle) lanes.delete(other)
    const lane = createTargetLane(limits(partsOf(name).target), clock.nowMs())
    lanes.set(name, lane)
    return lane
  }
  const laneOf = (name: string): TargetLane => {
    const lane = lanes.get(name) ?? newLane(name)
    lane.handedOver(owners.generation(), clock.nowMs())
    return lane
  }
  return {
    of: laneOf,
    known: name => lanes.get(name),
    async recall() {
      const generation = owners.generation()
      if (generation === recalledGeneration) return
      const nowMs = clock.nowMs()
      for (const { lane, untilMs, reason } of await recallLimits(store, nowMs)) laneOf(lane).limited(untilMs, reason, nowMs)
      recalledGeneration = generation
    },
  }
}

/** Whose target a lane is. */
export function partsOf(lane: string): { readonly tenant: string; readonly target: TargetId } {
  const slash = lane.indexOf('/')
  return { tenant: lane.slice(0, slash), target: lane.slice(slash + 1) as TargetId }
}

function limitsOf(target: TargetId): TargetLimits {
  return TARGET_LIMITS[parseTargetId(target)?.platform ?? 'email']
}
