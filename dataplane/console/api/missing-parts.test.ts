import { QueryClient } from '@tanstack/react-query'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { missingParts } from './missing-parts.ts'
import { missingOf, noteAnswer, readNoting } from './note-missing.ts'

describe('a part of the store that a search lacks', () => {
  it('is a shard that failed, or the time limit of the store', () => {
    expect(missingParts({ timed_out: false, _shards: { total: 3, successful: 3, failed: 0 } })).to.equal(undefined)
    expect(missingParts({ timed_out: false, _shards: { total: 3, successful: 2, failed: 1 } })).to.deep.equal({ failed: 1, total: 3 })
    expect(missingParts({ timed_out: false, _shards: { total: 3, successful: 1, failed: 0 } })).to.deep.equal({ failed: 2, total: 3 })
    expect(missingParts({ timed_out: true, _shards: { total: 3, successful: 3, failed: 0 } })).to.deep.equal({ failed: 0, total: 3 })
    expect([{}, null, undefined, []].map(missingParts)).to.deep.equal([undefined, undefined, undefined, undefined])
  })

  it('is known of the query whose last answer lacks it, and of no other', async () => {
    const client = new QueryClient({ defaultOptions: { queries: { persister: readNoting } } })
    let failed = 1
    const read = (name: string, isPartial: boolean) =>
      client.fetchQuery({
        queryKey: [name],
        async queryFn({ signal }) {
          noteAnswer(signal, { _shards: { total: 2, failed: isPartial ? failed : 0 } })
          noteAnswer(signal, { _shards: { total: 2, failed: 0 } })
          return name
        },
      })
    const missing = (name: string) => missingOf(client.getQueryCache().find({ queryKey: [name] })!)
    await Promise.all([read('partial', true), read('whole', false)])
    expect([missing('partial'), missing('whole')]).to.deep.equal([{ failed: 1, total: 2 }, undefined])
    failed = 0
    await read('partial', true)
    expect(missing('partial')).to.equal(undefined)
    client.clear()
  })
})
