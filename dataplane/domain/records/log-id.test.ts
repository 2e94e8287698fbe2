import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildLogId, LOG_NAMESPACE, normaliseId } from './log-id.ts'

const TRACE = '70ad787d48fd22a2601c24c7ac76f948'
const SPAN = 'a75d0dff13b423aa'

describe('log_id is a deterministic UUID (version 5) derived from trace id, span id and timestamp', () => {
  it('lies in the namespace UUIDv5(URL namespace, https://logpipeline.dev/log)', () => {
    expect(LOG_NAMESPACE).to.equal('1d4fe476-9f3c-5866-8387-82041192153a')
  })

  const cases = [
    { name: 'all three', ids: [TRACE, SPAN, '1674982208964574357'], expected: '71995bef-cc73-5507-bcf7-561557ed8034' },
    { name: 'a missing part empty', ids: ['', '', '1674982208964574357'], expected: 'fd2960d7-bc1b-5646-ab9a-cf95dd464bea' },
    { name: 'a trace without a span', ids: [TRACE, '', '1674982208964574357'], expected: 'f6bde786-7452-53cf-a207-b196e743c675' },
  ] as const
  for (const { name, ids, expected } of cases) it(name, () => expect(buildLogId(ids[0], ids[1], ids[2])).to.equal(expected))
})

describe('trace and span ids', () => {
  const cases = [
    { name: 'hex of either case, in lower case', id: TRACE.toUpperCase(), digits: 32, expected: TRACE },
    { name: 'absent', id: undefined, digits: 32, expected: '' },
    { name: 'wrong length is treated as absent', id: SPAN, digits: 32, expected: '' },
    { name: 'all zero is treated as absent', id: '0'.repeat(16), digits: 16, expected: '' },
    { name: 'no hex is treated as absent', id: `${SPAN.slice(1)}g`, digits: 16, expected: '' },
  ] as const
  for (const { name, id, digits, expected } of cases) it(name, () => expect(normaliseId(id, digits)).to.equal(expected))
})
