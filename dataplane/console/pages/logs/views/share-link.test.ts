import { expect } from 'chai'
import { describe, it } from 'mocha'
import { shareLink } from './share-link.ts'

const WINDOW = { fromMs: Date.UTC(2026, 10, 28, 2), toMs: Date.UTC(2026, 10, 28, 3) }
const TIME = { from: '2026-11-28T02:00:00.000Z', to: '2026-11-28T03:00:00.000Z' }
const parametersOf = (link: string) => Object.fromEntries(new URL(link).searchParams)

describe('a link for others', () => {
  it('names the time that is seen, whatever the range, and all else of the page', () => {
    const link = shareLink('http://logs.example/logs?q=a&range=15m&tenant=shop', WINDOW)
    expect(parametersOf(link)).to.deep.equal({ q: 'a', tenant: 'shop', ...TIME })
    expect(parametersOf(shareLink('http://logs.example/logs?from=x&to=y', WINDOW))).to.deep.equal(TIME)
  })

  it('names the record, also before the address of the page does, and no live tail', () => {
    expect(parametersOf(shareLink('http://logs.example/logs?mode=live', WINDOW, { record: 'id 1', mode: undefined }))).to.deep.equal({
      record: 'id 1',
      ...TIME,
    })
  })
})
