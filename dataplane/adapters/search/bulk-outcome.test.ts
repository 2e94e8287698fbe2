import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { BulkOperation, BulkOutcome } from '../../ports/search-store.ts'
import { type BulkItemResponse, bulkOutcome } from './bulk-outcome.ts'

const CASES: readonly { name: string; action: BulkOperation['action']; item: BulkItemResponse; expected: BulkOutcome['status'] }[] = [
  { name: 'created', action: 'create', item: { status: 201 }, expected: 'done' },
  { name: 'updated', action: 'update', item: { status: 200 }, expected: 'done' },
  { name: 'create of an id that is taken', action: 'create', item: { status: 409 }, expected: 'exists' },
  { name: 'update that another overtook', action: 'update', item: { status: 409 }, expected: 'retry' },
  { name: 'queue full', action: 'create', item: { status: 429, error: { type: 'rejected_execution_exception' } }, expected: 'retry' },
  { name: 'shard not there', action: 'create', item: { status: 503, error: { type: 'unavailable_shards_exception' } }, expected: 'retry' },
  { name: 'disk full', action: 'index', item: { status: 507, error: { type: 'disk_full' } }, expected: 'retry' },
  { name: 'index read-only', action: 'index', item: { status: 403, error: { type: 'cluster_block_exception' } }, expected: 'retry' },
  { name: 'document damaged', action: 'update', item: { status: 503, error: { type: 'damaged_document_exception' } }, expected: 'refused' },
  { name: 'index closed', action: 'create', item: { status: 400, error: { type: 'index_closed_exception' } }, expected: 'retry' },
  { name: 'out of shards', action: 'index', item: { status: 400, error: { type: 'validation_exception' } }, expected: 'retry' },
  { name: 'mapping conflict', action: 'create', item: { status: 400, error: { type: 'mapper_parsing_exception' } }, expected: 'refused' },
  { name: 'too many fields', action: 'create', item: { status: 400, error: { type: 'illegal_argument_exception' } }, expected: 'refused' },
  { name: 'no permission', action: 'create', item: { status: 403, error: { type: 'security_exception' } }, expected: 'refused' },
  {
    name: 'no document to update',
    action: 'update',
    item: { status: 404, error: { type: 'document_missing_exception' } },
    expected: 'refused',
  },
]

describe('outcome of a bulk item', () => {
  for (const { name, action, item, expected } of CASES) {
    it(`${name} (${item.status}) is ${expected}`, () => expect(bulkOutcome(action, item).status).to.equal(expected))
  }

  it('says that the store makes no more indices', () => {
    expect(bulkOutcome('create', { status: 400, error: { type: 'validation_exception', reason: 'full' } })).to.deep.equal({
      status: 'retry',
      reason: '400 validation_exception: full',
      hasNoRoom: true,
    })
  })

  it('says that an index is not there', () => {
    const error = { type: 'index_not_found_exception', reason: 'no such index [a]' }
    const reason = '404 index_not_found_exception: no such index [a]'
    expect(bulkOutcome('create', { status: 404, error })).to.deep.equal({ status: 'refused', reason, isMissing: true })
  })

  it('tells new documents from changed ones', () => {
    expect(bulkOutcome('index', { status: 201 })).to.deep.equal({ status: 'done', created: true })
    expect(bulkOutcome('index', { status: 200 })).to.deep.equal({ status: 'done', created: false })
  })

  it('carries the reason with its cause', () => {
    const error = { type: 'mapper_parsing_exception', reason: 'failed to parse field [a]', caused_by: { reason: 'For input string: "x"' } }
    expect(bulkOutcome('create', { status: 400, error })).to.deep.equal({
      status: 'refused',
      reason: '400 mapper_parsing_exception: failed to parse field [a]: For input string: "x"',
    })
  })
})
