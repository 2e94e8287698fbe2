import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import { indexNotFound } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import type { WriteOutcome } from '../../storage/index-storage.ts'
import { applyFilterPath, type FilterPath, parseFilterPath } from '../answer/filter-path.ts'
import type { BulkAction } from './bulk-action-line.ts'
import { BulkAnswer, type Settled } from './bulk-answer.ts'
import type { BulkItem } from './bulk-request.ts'

const INDEX = { name: 'logs-1', uuid: 'u' } as CatalogIndex
const CONFLICT = { error: { type: 'version_conflict_engine_exception', reason: 'taken', status: 409 } } as const

const item = (action: BulkAction, id: string): BulkItem => ({
  action,
  index: 'logs',
  op: undefined,
  error: undefined,
  id,
  requireAlias: false,
})
const done = (outcome: WriteOutcome): Settled => ({ kind: 'done', index: INDEX, outcome })

const ROWS: readonly (readonly [BulkItem, Settled])[] = [
  [item('create', 'a'), done({ result: 'created', seqNo: 0, version: 1 })],
  [item('create', 'b'), done({ result: 'created', seqNo: 1, version: 1 })],
  [item('index', 'c'), done({ result: 'updated', seqNo: 2, version: 4 })],
  [item('create', 'a'), done(CONFLICT)],
  [item('index', 'd'), done({ result: 'created', seqNo: 3, version: 1 })],
  [item('delete', 'e'), done({ result: 'not_found', seqNo: 4, version: 1 })],
  [item('update', 'c'), done({ result: 'noop', seqNo: 2, version: 4 })],
  [item('create', 'f'), { kind: 'refused', error: indexNotFound('logs') }],
  [item('create', 'g'), done({ result: 'created', seqNo: 5, version: 1 })],
]

const FILTERS = [
  'items.*.status,items.*.error.type',
  'errors,items.*.error',
  'items.create.status',
  'items.*._id',
  'items.*._v*,took',
  '**.status',
  'items.*._shards.total',
  'items,-items.*._shards',
  '-items.*._*',
  '-items.create',
  '-items',
  '-**.status,-**.reason',
  'took',
  'nothing',
]

describe('the answer to _bulk', () => {
  /** In portions of so many items. */
  async function answerText(filter: FilterPath | undefined, portion: number): Promise<string> {
    const answer = new BulkAnswer(filter, true)
    for (let at = 0; at < ROWS.length; at += portion) {
      const rows = ROWS.slice(at, at + portion)
      await answer.add(
        rows.map(([each]) => each),
        rows.map(([, each]) => each),
      )
    }
    return answer.reply(7).json!
  }

  let whole: { readonly items: readonly Record<string, object>[] }

  before(async () => {
    whole = JSON.parse(await answerText(undefined, 100))
  })

  it('has an item for each operation, in order', () => {
    expect(whole).to.include({ took: 7, errors: true })
    expect(whole.items).to.have.length(ROWS.length)
    expect(whole.items[1]).to.deep.equal({
      create: {
        _index: 'logs-1',
        _id: 'b',
        _version: 1,
        result: 'created',
        forced_refresh: true,
        _shards: { total: 1, successful: 1, failed: 0 },
        _seq_no: 1,
        _primary_term: 1,
        status: 201,
      },
    })
    expect(whole.items[3]!['create']).to.deep.include({ _index: 'logs', _id: 'a', status: 409 })
  })

  for (const text of FILTERS)
    it(`filter_path ${text} keeps of it what it keeps of any answer`, async () => {
      const filter = parseFilterPath(text)!
      for (const portion of [1, 4, 100]) expect(await answerText(filter, portion)).to.equal(JSON.stringify(applyFilterPath(whole, filter)))
    })
})
