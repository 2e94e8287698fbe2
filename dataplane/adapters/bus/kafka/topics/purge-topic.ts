import { kafkaError } from '../both-clients/kafka-errors.ts'
import { DELETE_RECORDS } from '../cluster/apis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { codeName } from '../cluster/protocol-errors.ts'

/** Up to the last record that is written everywhere. */
const ALL = -1n

/** Deletes the records that a topic holds, at the leader of each partition. */
export async function purgeTopic(cluster: Cluster, topic: string, deadlineMs: number): Promise<void> {
  await cluster.retry(deadlineMs, `deleting the records of ${topic}`, async () => {
    await cluster.refresh()
    const byLeader = Map.groupBy(cluster.topic(topic).leaders.keys(), partition => cluster.topic(topic).leaders[partition] ?? -1)
    for (const [leader, partitions] of byLeader) {
      const asked = [{ name: topic, partitions: partitions.map(partitionIndex => ({ partitionIndex, offset: ALL })) }]
      const { topics } = await cluster.ask(leader, 'control', DELETE_RECORDS, asked, cluster.settings.requestTimeoutMs)
      for (const { partitionIndex, errorCode } of topics.flatMap(answer => answer.partitions)) {
        const code = codeName(errorCode)
        if (code !== undefined) throw kafkaError(code, `deleting the records of partition ${partitionIndex} of ${topic}`)
      }
    }
  })
}
