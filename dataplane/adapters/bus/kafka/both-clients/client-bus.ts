/** The bus that both clients make: what is sent waits in queues, transactions wait until their commit, and `stop` ends all of it in order. */

import { randomUUID } from 'node:crypto'
import { type Bus, closedError, type SubscriptionConfig, unknownTopic } from '../../../../ports/bus.ts'
import { bufferTransaction, type TransactionContent } from './buffered-transaction.ts'
import type { KafkaSettings } from './kafka-config.ts'
import type { OnClosed, QueuedSubscription } from './queued-subscription.ts'
import { ByteBudget, SendQueue, type SendQueueDeps, type TopicLayout } from './send-queue.ts'

/** The calls of a client; everything rejects with a `BusError`, in time. `S` is the client's subscription. */
export interface KafkaClient<S extends QueuedSubscription> extends Pick<Bus, 'describe' | 'committedOffsets' | 'groupMembers'> {
  /** How many partitions records are shared out to: as found at the start, or fewer where the topic was made anew with fewer. */
  partitionsOf(topic: TopicLayout): number
  /** How records of one topic are written. */
  createProduce(topic: TopicLayout): SendQueueDeps['produce']
  /** All of it or nothing. `memberOf` tells the bus's member of a group. */
  writeTransaction(content: TransactionContent, memberOf: (groupId: string) => S | undefined): Promise<void>
  createSubscription(config: SubscriptionConfig, onClosed: OnClosed): S
  purge(topic: TopicLayout): Promise<void>
  /** Nothing is under way any more. */
  close(): Promise<void>
}

export function createClientBus<S extends QueuedSubscription>(
  { maxQueuedBytes, deliveryTimeoutMs }: KafkaSettings,
  found: ReadonlyMap<string, TopicLayout>,
  client: KafkaClient<S>,
): Bus {
  const layouts = new Map([...found].map(([name, layout]) => [name, layoutNow(layout, client)]))
  const budget = new ByteBudget(maxQueuedBytes)
  /** Also those that are still joining. */
  const subscriptions = new Set<S>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const checkOpen = () => {
    if (isClosed) throw closedError('the bus')
  }
  const finish = async (work: Promise<void>) => {
    const settled = work.catch(() => undefined)
    underWay.add(settled)
    await work.finally(() => underWay.delete(settled))
  }
  /** Why nothing can be sent to it. */
  const refusalOf = (topic: string) => (isClosed ? closedError('the bus') : unknownTopic(topic, layouts.keys()))
  const layoutOf = (topic: string) => {
    const layout = layouts.get(topic)
    if (layout === undefined) throw unknownTopic(topic, layouts.keys())
    return layout
  }
  const queues = new Map(
    [...layouts].map(([name, topic]) => [name, new SendQueue({ topic, produce: client.createProduce(topic), budget, deliveryTimeoutMs })]),
  )
  const memberOf = (groupId: string) => [...subscriptions].find(subscription => subscription.groupId === groupId)

  return {
    send(topic, records) {
      const queue = isClosed ? undefined : queues.get(topic)
      return queue === undefined ? Promise.reject(refusalOf(topic)) : queue.send(records)
    },
    async beginTransaction() {
      checkOpen()
      return bufferTransaction({
        budget,
        layoutOf,
        claim: (groupId, offsets) => memberOf(groupId)?.claim(offsets),
        async write(content) {
          checkOpen()
          await finish(client.writeTransaction(content, memberOf))
        },
      })
    },
    async subscribe(config) {
      checkOpen()
      for (const topic of config.topics) layoutOf(topic)
      const subscription = client.createSubscription(config, leaving => {
        subscriptions.delete(subscription)
        void finish(leaving)
      })
      subscriptions.add(subscription)
      try {
        await subscription.start()
        return subscription
      } catch (error) {
        await subscription.close()
        throw error
      }
    },
    async describe() {
      checkOpen()
      return client.describe()
    },
    async committedOffsets(groupId) {
      checkOpen()
      return client.committedOffsets(groupId)
    },
    async purge(topic) {
      checkOpen()
      await client.purge(layoutOf(topic))
    },
    async groupMembers(groupId) {
      checkOpen()
      return client.groupMembers(groupId)
    },
    async stop() {
      if (isClosed) return
      isClosed = true
      await Promise.all([...subscriptions].map(subscription => subscription.close()))
      await Promise.all([...[...queues.values()].map(queue => queue.close()), ...underWay])
      await client.close()
    },
  }
}

/** A layout whose partitions are those of the moment at which it is asked. */
function layoutNow(found: TopicLayout, client: Pick<KafkaClient<never>, 'partitionsOf'>): TopicLayout {
  return {
    ...found,
    get partitions() {
      return client.partitionsOf(found)
    },
  }
}

/** As many transactional producers as there are transactions at once, each used again. */
export function createProducerPool<P>({ transactionalId, clientId }: KafkaSettings, create: (transactionalId: string) => P) {
  const prefix = transactionalId ?? `${clientId}-${randomUUID()}`
  const all: P[] = []
  const idle: P[] = []
  const next = () => {
    const producer = create(`${prefix}-${all.length}`)
    all.push(producer)
    return producer
  }
  return {
    all: all as readonly P[],
    async use(work: (producer: P) => Promise<void>): Promise<void> {
      const producer = idle.pop() ?? next()
      try {
        await work(producer)
      } finally {
        idle.push(producer)
      }
    },
  }
}
