/** The thread `indexer`: writes logs and anomaly flags into the daily indices (Spec: Pipeline rules 5). */
import { consumerGroup } from '../../../contract/consumer-groups.ts'
import { areFlagsWritten } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters } from '../../../pipeline/dead-letters/dead-letter.ts'
import { divideByTenant } from '../../../pipeline/light-tenants.ts'
import type { AfterCommit, Output, Work } from '../../../pipeline/runners/work.ts'
import type { DocumentBuilder } from '../../../pipeline/steps/index-documents.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { DocumentWriter } from './document-writer.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Batches under way: so far ahead those are found that bring little. */
export const MAX_BATCHES = 8

/** Writes every enriched log, and the flags of every anomaly, into the daily indices (Spec: Pipeline rules 5). */
export function createIndexerWork({ settings, countDeadLetters, clock, log }: ThreadDeps, writer: DocumentWriter): Work {
  const topics = [settings.ENRICHED_TOPIC, settings.ANOMALY_TOPIC]

  const documentOf = (builder: DocumentBuilder, record: ConsumedRecord) => {
    if (record.topic === settings.ENRICHED_TOPIC) return builder.log(record)
    return areFlagsWritten(record) ? undefined : builder.flags(record)
  }

  /** Resolves with what counts the dead letters. */
  const write = async (
    records: readonly ConsumedRecord[],
    output: Output,
    { isHeavy }: { readonly isHeavy: boolean },
  ): Promise<AfterCommit> => {
    const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'indexer', clock, log, countDeadLetters })
    await writer.write({ records, isHeavy, documentOf, giveUp: (record, reason) => dead.add(record, reason) })
    await dead.send()
    return dead.count
  }

  return {
    subscription: { groupId: consumerGroup('indexer', topics), topics },
    limits: { maxRecords: 2_000, maxBytes: 4 * 1024 * 1024, waitMs: 200 },
    minBatchMs: 40,
    maxInFlight: MAX_BATCHES,
    prepare: () => writer.prepare(),
    async handle(records, output) {
      const { light, heavy } = divideByTenant(records)
      const counts = await Promise.all([
        ...(light.length > 0 ? [write(light, output, { isHeavy: false })] : []),
        ...(heavy.length > 0 ? [write(heavy, output, { isHeavy: true })] : []),
      ])
      return () => {
        for (const countLetters of counts) countLetters()
      }
    },
  }
}
