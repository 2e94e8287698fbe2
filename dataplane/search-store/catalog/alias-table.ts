import type { AliasConfig } from './alias.ts'

/** Which indices each alias stands for: finding or changing one alias takes the same time however many there are. */
export class AliasTable {
  readonly #indices = new Map<string, Set<string>>()

  has(alias: string): boolean {
    return this.#indices.has(alias)
  }

  names(): Iterable<string> {
    return this.#indices.keys()
  }

  /** Names of the indices behind an alias; none for a name that is no alias. */
  indicesOf(alias: string): Iterable<string> {
    return this.#indices.get(alias) ?? []
  }

  add(alias: string, index: string): void {
    const indices = this.#indices.get(alias)
    if (indices === undefined) this.#indices.set(alias, new Set([index]))
    else indices.add(index)
  }

  remove(alias: string, index: string): void {
    const indices = this.#indices.get(alias)
    indices?.delete(index)
    if (indices?.size === 0) this.#indices.delete(alias)
  }
}

/** Aliases of an index by their names. */
export type Aliases = ReadonlyMap<string, AliasConfig>
