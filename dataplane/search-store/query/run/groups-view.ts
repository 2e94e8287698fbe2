/** Groups of equal matches, as aggregations see them. */
import type { KeywordReader, MatchView, NumberReader } from '../../aggregate/match-view.ts'
import { type Field, findField } from '../bind/field.ts'
import type { GroupValues } from './coded-field.ts'
import type { Groups } from './group-matches.ts'
import type { SegmentUnit } from './segment-unit.ts'
import { scorerOf } from './walk-segment.ts'

/** Each group is a match that stands for many documents. */
export class GroupsView implements MatchView {
  readonly #unit: SegmentUnit
  readonly #groups: Groups
  readonly #fields = new Map<string, Field | undefined>()
  #score: ((doc: number) => number) | undefined

  constructor(unit: SegmentUnit, groups: Groups) {
    this.#unit = unit
    this.#groups = groups
  }

  get size(): number {
    return this.#groups.counts.length
  }

  get weights(): Uint32Array {
    return this.#groups.counts
  }

  get documents(): MatchView['documents'] {
    const { docs, bestValues } = this.#groups
    if (bestValues === undefined) return undefined
    return { unit: this.#unit, docs, score: doc => this.#scoreOf(doc), firstSortValues: bestValues }
  }

  #scoreOf(doc: number): number {
    this.#score ??= scorerOf(this.#unit)
    return this.#score(doc)
  }

  field(path: string): Field | undefined {
    if (!this.#fields.has(path)) this.#fields.set(path, findField(this.#unit.bound.mapping, path))
    return this.#fields.get(path)
  }

  numbers({ path }: Field): NumberReader {
    const { values } = this.#valuesOf(path, 'number')
    return {
      single: place => values[place]!,
      each: (place, visit) => {
        const value = values[place]!
        if (!Number.isNaN(value)) visit(value)
      },
    }
  }

  keywords({ path }: Field): KeywordReader {
    const { codes, dictionary } = this.#valuesOf(path, 'keyword')
    return {
      coded: { dictionary, code: place => codes[place]! },
      each: (place, visit) => {
        const code = codes[place]!
        if (code !== 0) visit(dictionary[code]!)
      },
    }
  }

  #valuesOf<K extends GroupValues['kind']>(path: string, kind: K): Extract<GroupValues, { kind: K }> {
    const values = this.#groups.fields.get(path)
    if (values?.kind !== kind) throw new Error(`matches were not grouped by [${path}]`)
    return values as Extract<GroupValues, { kind: K }>
  }

  filter(): never {
    throw new Error('matches were not grouped by a filter')
  }
}
