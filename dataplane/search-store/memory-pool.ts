/** Memory that many users share. Bytes that one has taken are not there for the others until they are given back. Callers estimate them. */
export class MemoryPool {
  readonly maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  hasRoomFor(bytes: number): boolean {
    return this.#usedBytes + bytes <= this.maxBytes
  }

  /** For one user, who must `release` it in the end. */
  lease(): MemoryLease {
    let heldBytes = 0
    return {
      get heldBytes() {
        return heldBytes
      },
      take: bytes => {
        if (!this.hasRoomFor(bytes)) return false
        this.#usedBytes += bytes
        heldBytes += bytes
        return true
      },
      giveBack: bytes => {
        this.#usedBytes -= bytes
        heldBytes -= bytes
      },
      release: () => {
        this.#usedBytes -= heldBytes
        heldBytes = 0
      },
    }
  }
}

export interface MemoryLease {
  readonly heldBytes: number
  /** False, and nothing is taken, when there is no room. */
  take(bytes: number): boolean
  giveBack(bytes: number): void
  release(): void
}
