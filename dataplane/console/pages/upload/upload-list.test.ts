import { expect } from 'chai'
import { describe, it } from 'mocha'
import { nextUpload, reduceUploads, sayOutcome, type UploadItem } from './upload-list.ts'

describe('the files of an upload', () => {
  const added = reduceUploads([], { kind: 'added', files: [2, 1].map(id => ({ id, tenant: undefined, name: `${id}.json`, bytes: 10 })) })
  const change = (items: readonly UploadItem[], id: number, state: UploadItem['state']) =>
    reduceUploads(items, { kind: 'changed', id, state })

  it('are sent one after the other, the first that came first', () => {
    expect(nextUpload(added)?.id).to.equal(1)
    const sending = change(added, 1, { kind: 'sending', share: 0 })
    expect(nextUpload(sending)).to.equal(undefined)
    expect(nextUpload(change(sending, 1, { kind: 'stopped' }))?.id).to.equal(2)
  })

  it('are sent, sent in part, or refused as a whole', () => {
    const say = (accepted: number, rejected: number) => sayOutcome({ batchId: 'b', accepted, rejected, errors: [] })
    expect([say(2, 0), say(2, 1), say(0, 3)]).to.deep.equal([
      { tone: 'good', text: 'sent' },
      { tone: 'warn', text: 'sent in part' },
      { tone: 'bad', text: 'refused' },
    ])
  })

  it('are taken from the list once they are done, and no others', () => {
    const items = change(added, 1, { kind: 'done', answer: { batchId: 'b', accepted: 1, rejected: 0, errors: [] } })
    expect(reduceUploads(items, { kind: 'cleared' }).map(({ id }) => id)).to.deep.equal([2])
  })
})
