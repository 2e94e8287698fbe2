/** The requests this adapter makes, each with the versions it can speak, newest first. All need Kafka 3.1 or newer. */
import { parseFetchAnswer } from '../fetch/fetch-answer.ts'
import { type Callback, type Connection, apis as kafka, type ResponseParser, type Writer } from '../library.ts'
import { encodeProduce, parseProduceAnswer } from '../produce/produce-request.ts'

/** The facts of one version of a request that the adapter needs. */
export interface Api<A extends unknown[], R> {
  readonly key: number
  readonly version: number
  async(connection: Connection, ...args: A): Promise<R>
}

/** Versions that take the same arguments and give (for what is used here) the same answer as the first. */
function versions<A extends unknown[], R>(newest: Api<A, R>, ...older: readonly { readonly key: number; readonly version: number }[]) {
  return [newest, ...(older as unknown as Api<A, R>[])] as const
}

/** A request that is written, or its answer read, by code of this adapter. */
function handMade<A extends unknown[], R>(
  { key, version }: { readonly key: number; readonly version: number },
  write: (...args: A) => Writer,
  read: ResponseParser<R>,
): Api<A, R> {
  return {
    key,
    version,
    async(connection, ...args) {
      return new Promise((resolve, reject) => {
        const onAnswer: Callback<R> = (error, answer) => (error === null ? resolve(answer!) : reject(error))
        connection.send(key, version, () => write(...args), read, true, true, onAnswer)
      })
    },
  }
}

export const API_VERSIONS = kafka.apiVersionsV3.api
export const METADATA = versions(kafka.metadataV12.api, kafka.metadataV11.api)
export const CREATE_TOPICS = versions(kafka.createTopicsV7.api)
export const CREATE_PARTITIONS = versions(kafka.createPartitionsV3.api, kafka.createPartitionsV2.api)
export const ALTER_CONFIGS = versions(kafka.incrementalAlterConfigsV1.api)
export const DESCRIBE_CONFIGS = versions(kafka.describeConfigsV4.api)
export const DELETE_RECORDS = versions(kafka.deleteRecordsV2.api)
export const FIND_COORDINATOR = versions(kafka.findCoordinatorV6.api, kafka.findCoordinatorV5.api, kafka.findCoordinatorV4.api)
export const LIST_OFFSETS = versions(kafka.listOffsetsV7.api, kafka.listOffsetsV6.api)
export const FETCH = [kafka.fetchV16, kafka.fetchV15, kafka.fetchV14, kafka.fetchV13].map(({ api, createRequest }) =>
  handMade(api, createRequest, parseFetchAnswer),
)
export const JOIN_GROUP = versions(kafka.joinGroupV9.api, kafka.joinGroupV8.api, kafka.joinGroupV7.api)
export const SYNC_GROUP = versions(kafka.syncGroupV5.api)
export const HEARTBEAT = versions(kafka.heartbeatV4.api)
export const LEAVE_GROUP = versions(kafka.leaveGroupV5.api, kafka.leaveGroupV4.api)
export const DESCRIBE_GROUPS = versions(kafka.describeGroupsV5.api)
export const OFFSET_COMMIT = versions(kafka.offsetCommitV8.api)
export const OFFSET_FETCH = versions(kafka.offsetFetchV8.api)
export const INIT_PRODUCER_ID = versions(kafka.initProducerIdV4.api)
export const ADD_PARTITIONS = versions(kafka.addPartitionsToTxnV3.api)
export const ADD_OFFSETS = versions(kafka.addOffsetsToTxnV3.api)
export const TXN_OFFSET_COMMIT = versions(kafka.txnOffsetCommitV3.api)
export const END_TXN = versions(kafka.endTxnV3.api)
export const PRODUCE = [kafka.produceV11, kafka.produceV10, kafka.produceV9].map(({ api }) =>
  handMade(api, encodeProduce, parseProduceAnswer),
)
