import { readLetters } from '../../pipeline/dead-letters/read-letters.ts'
import type { Bus } from '../../ports/bus.ts'

/** The state of the dead-letter queue. */
export interface DeadLetterState {
  readonly letters: number
  /** When the oldest was given up, ISO-8601; null without any. */
  readonly oldest: string | null
}

/**
 * Reads the state of the queue. The oldest letter is read only when it is another one than before: after a purge, or when retention has deleted some;
 * a reading that takes longer than its caller waits is used by the next one.
 */
export function createDeadLetterReader(
  bus: () => Promise<Pick<Bus, 'describe' | 'subscribe'>>,
  topic: string,
): () => Promise<DeadLetterState> {
  let known: { readonly from: string; readonly oldest: string | null } | undefined
  let reading: Promise<string | null> | undefined

  return async () => {
    const opened = await bus()
    const partitions = (await opened.describe()).partitions.filter(partition => partition.topic === topic)
    const letters = partitions.reduce((sum, { startOffset, endOffset }) => sum + endOffset - startOffset, 0)
    if (letters === 0) return { letters, oldest: null }
    const from = partitions.map(({ startOffset }) => startOffset).join()
    if (known?.from !== from) {
      reading ??= readOldest(opened, topic).finally(() => {
        reading = undefined
      })
      known = { from, oldest: await reading }
    }
    return { letters, oldest: known.oldest }
  }
}

async function readOldest(bus: Pick<Bus, 'describe' | 'subscribe'>, topic: string): Promise<string | null> {
  for await (const { time } of readLetters({ bus, topic, filter: {}, limit: 1 })) return time
  return null
}
