/** The habits of all services, by partition, in bounded memory: what is kept of them outlives the process, and goes with a partition that moves (Decisions 5). */
import { hash } from 'node:crypto'
import { RoomForTenants } from '../room-for-tenants.ts'
import { Habit } from './habit.ts'

/** Things that were found, of all services of a partition. */
export const MAX_HABITS = 500
const MAX_KEPT_BURSTS = 16
/** Characters of the name of a service whose habits are kept. */
const MAX_NAME = 256

/** A habit as it is kept: slots from and to, and the size, of each burst. */
export interface KeptHabit {
  /** `<tenant>/<service>`. */
  readonly service: string
  /** Id of the thing that was found, as `findingId` makes it. */
  readonly finding: string
  readonly bursts: readonly (readonly [from: number, to: number, size: number])[]
}

export interface KeptHabits {
  readonly partition: number
  readonly habits: readonly KeptHabit[]
}

/** Whether a finding of one service comes by habit. It is taken in. */
export type IsUsual = (finding: string, at: Found) => boolean

export interface Found {
  readonly slot: number
  readonly size: number
  readonly isLike: (size: number, largest: number) => boolean
}

/** The same for the same words in any process. */
export function findingId(...words: readonly string[]): string {
  return hash('sha1', words.join('\n'), 'hex').slice(0, 16)
}

interface OfPartition {
  /** By service and finding, the one found longest ago first. */
  readonly habits: Map<string, { readonly service: string; readonly finding: string; readonly habit: Habit }>
  readonly room: RoomForTenants
  hasChanged: boolean
}

export class Habits {
  readonly #partitions = new Map<number, OfPartition>()
  #hasChanged = false

  get bytes(): number {
    let count = 0
    for (const { habits } of this.#partitions.values()) count += habits.size
    return count * Habit.bytes
  }

  of(partition: number, service: string): IsUsual {
    return (finding, { slot, size, isLike }) => {
      const all = this.#of(partition)
      all.hasChanged = true
      this.#hasChanged = true
      return this.#habit(all, service, finding).isUsual(slot, size, isLike)
    }
  }

  /** Takes in what was kept. Bursts that are known change nothing. */
  merge({ partition, habits }: KeptHabits): void {
    const all = this.#of(partition)
    for (const { service, finding, bursts } of habits)
      this.#habit(all, service, finding).merge(bursts.map(([from, to, size]) => ({ from, to, size })))
  }

  /** The habits of partitions in which something was found since the last call; mostly none. */
  takeChanged(): readonly KeptHabits[] {
    if (!this.#hasChanged) return NONE
    this.#hasChanged = false
    const changed = [...this.#partitions].filter(([, { hasChanged }]) => hasChanged)
    return changed.map(([partition, all]) => {
      all.hasChanged = false
      return this.keptOf(partition)
    })
  }

  keptOf(partition: number): KeptHabits {
    const all = [...(this.#partitions.get(partition)?.habits.values() ?? [])]
    return { partition, habits: all.filter(({ service }) => service.length <= MAX_NAME).map(toKept) }
  }

  #of(partition: number): OfPartition {
    const known = this.#partitions.get(partition) ?? { habits: new Map(), room: new RoomForTenants(), hasChanged: false }
    this.#partitions.set(partition, known)
    return known
  }

  #habit({ habits, room }: OfPartition, service: string, finding: string): Habit {
    const id = `${service}\n${finding}`
    const known = habits.get(id) ?? { service, finding, habit: new Habit() }
    habits.delete(id)
    habits.set(id, known)
    room.hear(id)
    if (habits.size > MAX_HABITS) {
      const leaving = room.leavesFor(id, habits.keys().next().value!, MAX_HABITS)
      habits.delete(leaving)
      room.remove(leaving)
    }
    return known.habit
  }
}

const NONE: readonly KeptHabits[] = []

function toKept({ service, finding, habit }: { readonly service: string; readonly finding: string; readonly habit: Habit }): KeptHabit {
  return { service, finding, bursts: habit.bursts.map(({ from, to, size }) => [from, to, size]) }
}

/** Habits from whatever document is stored: what is none is left out. */
export function readKeptHabits(value: unknown): readonly KeptHabit[] {
  return Array.isArray(value) ? value.filter(isKept).slice(-MAX_HABITS) : []
}

function isKept(value: unknown): value is KeptHabit {
  if (typeof value !== 'object' || value === null) return false
  const { service, finding, bursts } = value as Partial<Record<keyof KeptHabit, unknown>>
  const isNamed = typeof service === 'string' && service.includes('/') && typeof finding === 'string'
  return isNamed && Array.isArray(bursts) && bursts.length <= MAX_KEPT_BURSTS && bursts.every(isBurst)
}

function isBurst(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && value.every(Number.isFinite) && value[0] <= value[1]
}
