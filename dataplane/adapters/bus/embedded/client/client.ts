/** The embedded bus as one thread uses it, through the owner of the log in this thread or in another. */
import { type Bus, closedError, unknownTopic } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { BusLog } from '../../bus-log.ts'
import type { BusLayout, LogOwner } from '../log-owner.ts'
import { SharedEnds } from '../shared-ends.ts'
import { FrameCache } from './frame-cache.ts'
import { RecordSender } from './record-sender.ts'
import { type GroupSubscription, subscribe } from './subscription.ts'
import { TopicReader } from './topic-reader.ts'
import { beginTransaction } from './transaction.ts'

export interface ClientDeps {
  readonly owner: LogOwner
  readonly layout: BusLayout
  readonly clock: Clock
  readonly log: BusLog
}

/** Unpacked records that the groups of one thread share: a tenth of a second at full speed. */
const CACHE_BYTES = 8 << 20

/** The bus as one thread uses it, whether or not that is the owner's thread. */
export function createEmbeddedClient({ owner, layout, clock, log }: ClientDeps): Bus {
  const ends = new SharedEnds(layout.ends, layout.topics.length)
  const sender = new RecordSender(owner, layout)
  const cache = new FrameCache(CACHE_BYTES)
  const subscriptions = new Set<GroupSubscription>()
  let isClosed = false
  const checkOpen = () => {
    if (isClosed) throw closedError('the bus')
  }
  const openReader = (topic: string) => {
    const index = layout.topics.findIndex(({ name }) => name === topic)
    const topicLayout = layout.topics[index]
    if (topicLayout === undefined)
      throw unknownTopic(
        topic,
        layout.topics.map(({ name }) => name),
      )
    return new TopicReader({ layout: topicLayout, index, ends, owner, log, cache })
  }
  return {
    async send(topic, records) {
      checkOpen()
      await sender.send(topic, records)
    },
    async beginTransaction() {
      checkOpen()
      return beginTransaction(owner, sender, groupId => [...subscriptions].find(subscription => subscription.groupId === groupId))
    },
    async subscribe(config) {
      checkOpen()
      const onClosed = (subscription: GroupSubscription) => void subscriptions.delete(subscription)
      const subscription = await subscribe({ owner, ends, clock, openReader, onClosed }, config)
      subscriptions.add(subscription)
      return subscription
    },
    async describe() {
      checkOpen()
      const [partitions, problem, deletedEarlyBytes] = await Promise.all([owner.partitions(), owner.problem(), owner.deletedEarlyBytes()])
      return { brokers: 1, partitions, problem, deletedEarlyBytes }
    },
    groupMembers: async () => [],
    async committedOffsets(groupId) {
      checkOpen()
      return owner.committedOffsets(groupId)
    },
    async purge(topic) {
      checkOpen()
      await owner.purge(topic)
    },
    async stop() {
      if (isClosed) return
      isClosed = true
      await Promise.all([...subscriptions].map(subscription => subscription.close()))
      await sender.close()
      await owner.close()
    },
  }
}
