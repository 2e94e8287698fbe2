/** A change of many incidents, sent in batches of what the API takes at once. */
import type { BatchAnswer } from '../../../api/ticketing.ts'

const MAX_BATCH = 500

export type BatchesAnswer = Pick<BatchAnswer, 'updated'> & { readonly skipped: readonly { readonly reason: string }[] }

/** Where a batch fails, those before it stay done: the rest is skipped, with the reason. Rejects where the first one fails. */
export async function changeInBatches(
  ids: readonly string[],
  change: (ids: readonly string[]) => Promise<Pick<BatchAnswer, 'updated' | 'skipped'>>,
  explain: (error: unknown) => string,
): Promise<BatchesAnswer> {
  let updated = 0
  const skipped: { readonly reason: string }[] = []
  for (let at = 0; at < ids.length; at += MAX_BATCH) {
    try {
      const answer = await change(ids.slice(at, at + MAX_BATCH))
      updated += answer.updated
      skipped.push(...(answer.skipped ?? []))
    } catch (error) {
      if (at === 0) throw error
      const reason = explain(error)
      return { updated, skipped: [...skipped, ...ids.slice(at).map(() => ({ reason }))] }
    }
  }
  return { updated, skipped }
}
