/** Records that the bus could not read: they go to the dead-letter queue, and their partition goes on. */
import type { ConsumedRecord } from '../ports/bus.ts'
import { collectDeadLetters, type DeadLetterDeps } from './dead-letters/dead-letter.ts'
import type { Memory, Work } from './runners/work.ts'

const isReadable = ({ unreadable }: ConsumedRecord) => unreadable === undefined

/** The same work, without the records that cannot be read. */
export function givingUpUnreadable(work: Work, deps: Omit<DeadLetterDeps, 'bus'>): Work {
  const guarded: Work = {
    ...work,
    async handle(records, output) {
      if (records.every(isReadable)) return work.handle(records, output)
      const dead = collectDeadLetters({ ...deps, bus: output })
      for (const record of records) if (record.unreadable !== undefined) dead.add(record, record.unreadable)
      const readable = records.filter(isReadable)
      const [afterCommit] = await Promise.all([readable.length > 0 ? work.handle(readable, output) : undefined, dead.send()])
      return () => {
        afterCommit?.()
        dead.count()
      }
    },
  }
  return work.memory === undefined ? guarded : { ...guarded, memory: ofReadable(work.memory) }
}

function ofReadable(memory: Memory): Memory {
  return {
    records: memory.records,
    ...(memory.weigh !== undefined && { weigh: message => (isReadable(message) ? memory.weigh!(message) : 0) }),
    reset: () => memory.reset(),
    restore: records => memory.restore(records.filter(isReadable)),
  }
}
