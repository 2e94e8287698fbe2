import { createRequire } from 'node:module'
import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { beforeEach, describe, it } from 'mocha'
import { repairLibrary } from './library-repairs.ts'

const load = createRequire(import.meta.url)
const RequestQueue = load('kafkajs/src/network/requestQueue/index.js')
const ConsumerGroup = load('kafkajs/src/consumer/consumerGroup.js')
const silent = { namespace: () => silent, debug() {}, info() {}, warn() {}, error() {} }

describe('kafkajs, repaired', () => {
  beforeEach(repairLibrary)

  describe('a connection', () => {
    const answered = { correlationId: 1, size: 0, payload: Buffer.alloc(0) }
    const createQueue = (maxInFlightRequests: number | null = null) =>
      new RequestQueue({
        maxInFlightRequests,
        requestTimeout: 1_000,
        enforceRequestTimeout: true,
        clientId: 'c',
        broker: 'b',
        logger: silent,
      })
    const push = (queue: { push(request: unknown): void }, correlationId: number, sent: number[]) =>
      queue.push({
        entry: { correlationId, apiKey: 0, apiName: '', apiVersion: 0, resolve() {}, reject() {} },
        expectResponse: true,
        sendRequest: () => sent.push(correlationId),
      })

    it('has no timer while no request waits', () => {
      const queue = createQueue()
      push(queue, 1, [])
      queue.fulfillRequest(answered)
      expect(queue.throttleCheckTimeoutId).to.equal(null)
    })

    it('starts no timer for an answer that comes after it was closed', () => {
      const queue = createQueue()
      queue.destroy()
      queue.fulfillRequest(answered)
      expect(queue.throttleCheckTimeoutId).to.equal(null)
    })

    it('sends what waits once there is an answer, and looks after it in between', () => {
      const queue = createQueue(1)
      const sent: number[] = []
      push(queue, 1, sent)
      push(queue, 2, sent)
      expect({ sent, hasTimer: queue.throttleCheckTimeoutId !== null }).to.deep.equal({ sent: [1], hasTimer: true })
      queue.fulfillRequest(answered)
      expect(sent).to.deep.equal([1, 2])
      queue.destroy()
    })
  })

  describe('a member of a group', () => {
    it('joins the coordinator that was still loading, and commits there', async () => {
      const committed: string[] = []
      const old = createCoordinator('old', committed)
      const fresh = createCoordinator('new', committed, ['GROUP_LOAD_IN_PROGRESS', 'GROUP_LOAD_IN_PROGRESS'])
      const cluster = createCluster(old)
      const group = createGroup(cluster)
      await group.joinAndSync()
      cluster.coordinator = fresh
      await group.joinAndSync()
      await group.commitOffsets({ topics: [{ topic: 't', partitions: [{ partition: 0, offset: '1' }] }] })
      expect({ committed, joins: fresh.joins }).to.deep.equal({ committed: ['new'], joins: 3 })
    })

    it('that cannot join ends its consumer, which would go on fetching otherwise', async () => {
      const coordinator = createCoordinator('new', [], Array(10).fill('GROUP_LOAD_IN_PROGRESS'))
      const error = await createGroup(createCluster(coordinator))
        .joinAndSync()
        .catch((reason: unknown) => reason)
      expect(error).to.include({ name: 'KafkaJSNumberOfRetriesExceeded', retriable: false })
    })

    it('joins once when several fetchers ask for it', async () => {
      const coordinator = createCoordinator('only', [])
      const group = createGroup(createCluster(coordinator))
      await Promise.all([group.joinAndSync(), group.joinAndSync(), group.joinAndSync()])
      expect(coordinator.joins).to.equal(1)
      await group.joinAndSync()
      expect(coordinator.joins).to.equal(2)
    })
  })
})

type Coordinator = ReturnType<typeof createCoordinator>

/** Refuses to join with each of `refusals`, then lets join. */
function createCoordinator(name: string, committed: string[], refusals: readonly string[] = []) {
  const { MemberAssignment } = kafkajs.AssignerProtocol
  return {
    joins: 0,
    isConnected: () => true,
    async joinGroup() {
      const type = refusals[this.joins++]
      if (type !== undefined) throw new kafkajs.KafkaJSProtocolError({ type, code: 0, retriable: true, message: type } as never)
      return { generationId: this.joins, leaderId: 'other', memberId: 'me', members: [], groupProtocol: 'p' }
    },
    syncGroup: async () => ({
      memberAssignment: MemberAssignment.encode({ version: 0, assignment: { t: [0] }, userData: Buffer.alloc(0) }),
    }),
    offsetCommit: async () => void committed.push(name),
  }
}

function createCluster(coordinator: Coordinator) {
  return {
    coordinator,
    async connect() {},
    async findGroupCoordinator() {
      return this.coordinator
    },
    findTopicPartitionMetadata: () => [{ partitionId: 0, leader: 1 }],
    committedOffsets: () => ({}),
  }
}

function createGroup(cluster: object) {
  return new ConsumerGroup({
    retry: { initialRetryTime: 1, retries: 3 },
    cluster,
    groupId: 'g',
    topics: ['t'],
    topicConfigurations: {},
    logger: silent,
    instrumentationEmitter: { emit() {} },
    assigners: [],
    autoCommit: false,
  })
}
