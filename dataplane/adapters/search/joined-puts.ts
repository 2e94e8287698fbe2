/** Writes of single documents that come together, sent to the store as one bulk. */
import { SearchStoreRefusal, SearchStoreUnavailable, type Version, VersionConflict } from '../../ports/search-store.ts'
import { type BulkItemResponse, isDiskFull, isUnavailableStatus, NO_ROOM_ERROR, SHARD_TIMEOUT } from './bulk-outcome.ts'
import { type StoreTransport, strangeAnswer } from './transport.ts'

export type PutCondition = { readonly only: 'new' } | Version

export interface Put {
  readonly index: string
  readonly id: string
  /** JSON text. */
  readonly body: string
  readonly condition: PutCondition | undefined
}

interface Waiting {
  readonly put: Put
  readonly resolve: (version: Version) => void
  readonly reject: (error: unknown) => void
}

interface PutItem extends BulkItemResponse {
  readonly _seq_no: number
  readonly _primary_term: number
}

/** Bytes and documents of one bulk. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_PUTS = 100
const FILTER_PATH = 'items.*.status,items.*._seq_no,items.*._primary_term,items.*.error'

/** Puts of one turn of the event loop go together; each ends as it would alone. A put that is alone is sent by `alone`. */
export function createJoinedPuts(transport: StoreTransport, alone: (put: Put) => Promise<Version>): (put: Put) => Promise<Version> {
  let waiting: Waiting[] = []
  const sendAlone = ({ put, resolve, reject }: Waiting): void => void alone(put).then(resolve, reject)

  const send = async (puts: readonly Waiting[]): Promise<void> => {
    if (puts.length === 1) return sendAlone(puts[0]!)
    try {
      const bulkBody = Buffer.from(puts.map(({ put }) => `${actionLine(put)}\n${put.body}\n`).join(''))
      const { body } = await transport.request({
        ...{ method: 'POST', path: '/_bulk', query: { filter_path: FILTER_PATH, timeout: SHARD_TIMEOUT }, bulkBody },
      })
      const { items = [] } = body as { readonly items?: readonly Readonly<Record<string, PutItem>>[] }
      if (items.length !== puts.length)
        throw new SearchStoreUnavailable(`search store answered ${items.length} items to a bulk of ${puts.length}`)
      for (const [i, { put, resolve, reject }] of puts.entries()) {
        const item = Object.values(items[i]!)[0]
        if (typeof item?.status !== 'number') reject(strangeAnswer(`a write of ${put.index}/${put.id}`))
        else if (item.status < 300) resolve({ seqNo: item._seq_no, primaryTerm: item._primary_term })
        else reject(failureOf(put, item))
      }
    } catch (error) {
      // A bulk that is refused as a whole has written nothing: each learns by itself why, or is small enough alone.
      if (error instanceof SearchStoreRefusal) puts.forEach(sendAlone)
      else for (const { reject } of puts) reject(error)
    }
  }

  const flush = (): void => {
    const puts = waiting
    waiting = []
    for (const portion of portionsOf(puts)) void send(portion)
  }

  return put =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ put, resolve, reject })
    })
}

function* portionsOf(puts: readonly Waiting[]): Generator<readonly Waiting[]> {
  let start = 0
  let bytes = 0
  for (const [at, { put }] of puts.entries()) {
    const size = Buffer.byteLength(put.body)
    bytes += size
    if (at > start && (bytes > MAX_BYTES || at - start === MAX_PUTS)) {
      yield puts.slice(start, at)
      start = at
      bytes = size
    }
  }
  yield puts.slice(start)
}

function actionLine({ index, id, condition }: Put): string {
  const home = { _index: index, _id: id }
  if (condition === undefined) return JSON.stringify({ index: home })
  if ('only' in condition) return JSON.stringify({ create: home })
  return JSON.stringify({ index: { ...home, if_seq_no: condition.seqNo, if_primary_term: condition.primaryTerm } })
}

/** The error that the put alone would have thrown. */
function failureOf({ index, id }: Put, { status, error }: PutItem): Error {
  if (status === 409) return new VersionConflict(index, id)
  const message = `search store answered ${status} to PUT /${index}/_doc/${id}: ${error?.type}: ${error?.reason}`
  if (isUnavailableStatus(status)) return new SearchStoreUnavailable(message, { isDiskFull: isDiskFull(error) })
  return new SearchStoreRefusal(status, message, { hasNoRoom: error?.type === NO_ROOM_ERROR })
}
