/** Pieces of an answer between where they arrive and where they are read. */
export interface AnswerStream extends AsyncIterable<Uint8Array> {
  push(piece: Uint8Array): void
  end(): void
  /** The reader gets the error after what has arrived. */
  fail(error: unknown): void
}

export interface AnswerStreamEvents {
  /** The reader has come so many bytes further. */
  onTaken(bytes: number): void
  /** The reader has stopped before the end. */
  onGivenUp(): void
}

export function createAnswerStream({ onTaken, onGivenUp }: AnswerStreamEvents): AnswerStream {
  const pieces: Uint8Array[] = []
  let state: 'open' | 'ended' | { readonly error: unknown } = 'open'
  let wake: (() => void) | undefined

  const changed = (): void => {
    wake?.()
    wake = undefined
  }

  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const piece = pieces.shift()
        if (piece !== undefined) {
          yield piece
          onTaken(piece.length)
        } else if (state === 'ended') return
        else if (typeof state === 'object') throw state.error
        else
          await new Promise<void>(resolve => {
            wake = resolve
          })
      }
    } finally {
      if (state === 'open') onGivenUp()
    }
  }

  return {
    push(piece) {
      pieces.push(piece)
      changed()
    },
    end() {
      if (state === 'open') state = 'ended'
      changed()
    },
    fail(error) {
      if (state === 'open') state = { error }
      changed()
    },
    [Symbol.asyncIterator]: read,
  }
}
