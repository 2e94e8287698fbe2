/** Sends dead letters back to the topics that they came from. */
import { createHash } from 'node:crypto'
import { RecentIds } from '../../limits/recent-ids.ts'
import type { Bus, BusRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { DEAD_LETTER_HEADERS } from './dead-letter.ts'
import type { Letter } from './letter.ts'

/** Sent together at most. */
const BATCH = { records: 500, bytes: 1024 * 1024 } as const
/** Letters whose bytes a replay knows again, the last half of them at least. To send those further back once more changes nothing, as documents keep their ids. */
export const MAX_REMEMBERED = 100_000

export interface LetterReplayDeps {
  /** Undefined: a dry run. */
  readonly bus: Pick<Bus, 'send'> | undefined
  /** Where a letter may go back to. */
  readonly topics: ReadonlySet<string>
  readonly clock: Clock
}

export interface LetterReplayTally {
  /** Letters by the topic they went to. */
  readonly sent: ReadonlyMap<string, number>
  /** Letters whose bytes an earlier one held already: a step gave them up again, or twice. */
  readonly repeated: number
  /** Letters that hold only the beginning of the original. */
  readonly cut: number
  /** Letters from a topic that the settings do not name, by that topic. */
  readonly strange: ReadonlyMap<string, number>
}

/** Sends each letter's original bytes to the topic they came from. Resolves once all are durable; when it rejects, some are. */
export async function replayLetters(letters: AsyncIterable<Letter>, { bus, topics, clock }: LetterReplayDeps): Promise<LetterReplayTally> {
  const sent = new Map<string, number>()
  const strange = new Map<string, number>()
  const seen = new RecentIds(MAX_REMEMBERED / 2)
  let repeated = 0
  let cut = 0
  const replayed = new Date(clock.nowMs()).toISOString()
  let batch = new Map<string, BusRecord[]>()
  let records = 0
  let bytes = 0
  const flush = async () => {
    const full = batch
    batch = new Map()
    records = 0
    bytes = 0
    for (const [topic, group] of full) await bus?.send(topic, group)
  }
  for await (const letter of letters) {
    if (!topics.has(letter.topic)) {
      addOne(strange, letter.topic)
      continue
    }
    if (letter.wholeBytes !== undefined) {
      cut++
      continue
    }
    if (!seen.add(digestOf(letter))) {
      repeated++
      continue
    }
    addOne(sent, letter.topic)
    const group = batch.get(letter.topic) ?? []
    batch.set(letter.topic, group)
    group.push(buildReplay(letter, replayed))
    bytes += letter.value.length
    if (++records >= BATCH.records || bytes >= BATCH.bytes) await flush()
  }
  await flush()
  return { sent, repeated, cut, strange }
}

/**
 * The message as it was, with two times in its headers. A record without a time gets the first arrival of its message again, and by that the same id. A
 * letter that comes back tells the time of the replay.
 */
function buildReplay({ key, value, receivedMs }: Letter, replayed: string): BusRecord {
  const headers = {
    [DEAD_LETTER_HEADERS.replayed]: replayed,
    ...(receivedMs !== undefined && { [DEAD_LETTER_HEADERS.received]: receivedMs }),
  }
  return { key, value, headers }
}

function digestOf({ topic, key, value }: Letter): string {
  return createHash('sha256').update(`${topic}\n${key}\n`).update(value).digest('base64')
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
