import { expect } from 'chai'
import { describe, it } from 'mocha'
import { CHECKOUT_INCIDENT } from '../testing/checkout-incident.ts'
import { toAdf } from './adf.ts'
import { describeChange } from './ticket-document.ts'

const MAX = 32_767

describe('a ticket as an Atlassian document', () => {
  it('keeps the lines of a note apart by breaks', () => {
    const change = { actor: 'ada', note: 'restarted the pool\r\n\r\nand the cache', at: '2026-11-21T03:10:00.000Z' }
    const { content } = toAdf([describeChange('comment', { ...CHECKOUT_INCIDENT, change })], MAX)
    expect(content[1]).to.deep.equal({
      type: 'paragraph',
      content: [
        { type: 'text', text: '“restarted the pool' },
        { type: 'hardBreak' },
        { type: 'hardBreak' },
        { type: 'text', text: 'and the cache”' },
      ],
    })
  })

  it('keeps the lines of code in one text', () => {
    const { content } = toAdf([{ lead: [], blocks: [{ kind: 'code', lines: ['a', '', 'b'] }] }], MAX)
    expect(content[1]).to.deep.equal({ type: 'codeBlock', content: [{ type: 'text', text: 'a\n\nb' }] })
  })
})
