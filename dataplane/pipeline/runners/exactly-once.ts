import { consume } from './consume.ts'
import { nextOffsets, type RunnerDeps } from './work.ts'

/** A transaction costs Kafka a dozen writes, however little is in it: records that come meanwhile share it. */
const MIN_TRANSACTION_MS = 50

/**
 * Consumes, processes, and commits output and offsets in one transaction: neither is seen without the other, also when something fails in between.
 * Offsets are claimed before the work begins: a member that lost a partition meanwhile, though only for a moment, cannot commit.
 * See `consume` for when it ends.
 */
export function runExactlyOnce(deps: RunnerDeps): Promise<void> {
  const { bus } = deps
  const work = { ...deps.work, minBatchMs: Math.max(deps.work.minBatchMs ?? 0, MIN_TRANSACTION_MS) }
  return consume({ ...deps, work }, async records => {
    const transaction = await bus.beginTransaction()
    await transaction.sendOffsets(work.subscription.groupId, nextOffsets(records))
    let isFinished = false
    return {
      output: work.handle(records, { send: (topic, sent) => transaction.send(topic, sent), keepsRecords: true }),
      async commit() {
        isFinished = true
        await transaction.commit()
      },
      async giveUp() {
        if (!isFinished) await transaction.abort()
      },
    }
  })
}
