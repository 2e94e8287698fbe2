/**
 * Does before the first query what the first one would wait for: opens segments and reads their counts, lets the code of usual queries be compiled,
 * and reads the columns that most of them need.
 */
import { executeQuery } from '../calls/execute-query.ts'
import type { QueryContext } from '../calls/query-call.ts'
import type { ReadableIndex, Segment } from '../storage/index-storage.ts'
import { type Body, openingQuestions, USUAL_FIELDS, usualQuestions } from './usual-questions.ts'

/** The newest segments, which are opened: some seven million records. */
const MAX_OPENED = 128
/** Segments that code is compiled on: more of them make it no quicker. */
const MAX_ASKED = 6
const ROUNDS = 3

export interface WarmUpContext extends Pick<QueryContext, 'clock' | 'turns' | 'leftMs'> {
  /** Whether there is room for more columns. */
  hasRoom(): boolean
}

/** `indices` with the newest first. Ends early when no time is left; throws what queries throw. */
export async function warmUp(indices: readonly ReadableIndex[], context: WarmUpContext): Promise<void> {
  const opened: ReadableIndex[] = []
  let left = MAX_OPENED
  for (const index of indices) {
    const segments = left > 0 ? index.segments().slice(-left) : []
    left -= segments.length
    opened.push(withSegments(index, segments))
  }
  for (const body of openingQuestions()) await ask(opened, body, context)
  for (let round = 0; round < ROUNDS; round++)
    for (const index of opened) {
      if (context.leftMs() < 0) return
      const asked = withSegments(index, index.segments().slice(-MAX_ASKED))
      for (const body of usualQuestions(asked, asked.segments(), round)) await ask([asked], body, context)
    }
  for (const index of opened) for (const segment of index.segments().toReversed()) await readColumns(segment, context)
}

const withSegments = ({ name, uuid, mapping }: ReadableIndex, segments: readonly Segment[]): ReadableIndex => ({
  ...{ name, uuid, mapping },
  segments: () => segments,
})

async function ask(indices: readonly ReadableIndex[], body: Body, { clock, turns, leftMs }: WarmUpContext): Promise<void> {
  if (leftMs() < 0) return
  const targets = indices.map(storage => ({ storage, filter: undefined }))
  const resolve = async () => targets
  await executeQuery(
    {
      operation: 'search',
      index: undefined,
      parameters: new URLSearchParams(),
      body: Buffer.from(JSON.stringify(body)),
      acceptsGzip: false,
    },
    { clock, turns, leftMs, resolve, resolvePointInTime: resolve },
  )
}

async function readColumns(segment: Segment, { turns, leftMs, hasRoom }: WarmUpContext): Promise<void> {
  if (leftMs() < 0 || !hasRoom()) return
  await turns.next()
  segment.textShapes?.(USUAL_FIELDS.text)
  for (const field of USUAL_FIELDS.columns) segment.column(field)
}
