import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { LOG_MAPPINGS } from '../../testing/arbitrary-search.ts'
import { fillStorages } from '../../testing/test-storages.ts'
import { bindQuery } from '../bind/bind.ts'
import { createPace } from '../budget/pace.ts'
import { parseQuery } from '../parse/parse.ts'
import { countDocs } from '../plan/doc-set.ts'
import { planSegment } from '../plan/plan.ts'
import { matches } from './matches.ts'
import { readDocument } from './segment-unit.ts'
import { walkSegment } from './walk-segment.ts'

const piece = fc.constantFrom(
  'disk',
  'Full',
  'DISK',
  'full',
  ' ',
  ' ',
  '.',
  ',',
  "'",
  ':',
  '-',
  '_',
  '"',
  '\\',
  '\n',
  '1',
  '5',
  'é',
  '\u212a',
  '日',
  '\u0007',
)
const text = fc.array(piece, { maxLength: 9 }).map(pieces => pieces.join(''))
const base = { timestamp: '2026-11-21T10:00:00.000Z', tenant_id: 'default', service: 'cart', level: 'INFO' }
const document = fc
  .oneof(
    { weight: 6, arbitrary: fc.record({ message: text }) },
    fc.record({ note: text, message: text, attributes: fc.record({ message: text }) }),
    fc.record({ message: fc.array(text, { maxLength: 3 }) }),
    fc.record({ message: fc.constantFrom(null, 1.5, true) }),
    fc.record({ note: text }),
  )
  .map(fields => ({ ...base, ...fields }))
const phrase = fc
  .array(fc.constantFrom('disk', 'full', '1', '1,5', 'disk.full', 'é', 'dis', 'fu'), { minLength: 1, maxLength: 3 })
  .map(words => words.join(' '))
const query = fc.oneof(
  fc.tuple(phrase, fc.constantFrom(0, 0, 0, 2)).map(([words, slop]) => ({ match_phrase: { message: { query: words, slop } } })),
  phrase.map(words => ({ match_phrase_prefix: { message: words } })),
  phrase.map(words => ({ bool: { must_not: [{ match_phrase: { message: words } }] } })),
  fc.constantFrom('*sk*', 'd?sk', 'full*', 'di*k').map(pattern => ({ wildcard: { message: pattern } })),
  fc.constant({ exists: { field: 'message' } }),
)

describe('a phrase', () => {
  it('finds what a look at every document finds, whatever stands around its words', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 20, maxLength: 200 }),
        fc.array(query, { minLength: 20, maxLength: 40 }),
        async (documents, queries) => {
          const { log, remove } = await fillStorages(documents, LOG_MAPPINGS)
          try {
            for (const each of queries) {
              const condition = bindQuery(parseQuery(each), { index: log.name, mapping: log.mapping, nowMs: 0 })
              for (const segment of log.segments()) {
                const bound = { index: log.name, mapping: log.mapping, condition, query: condition }
                const view = await walkSegment(
                  { ordinal: 0, segment, bound },
                  { fields: [], filters: [], nowMs: 0 },
                  createPace(createFakeClock(), 1000),
                )
                const naive = [...Array(segment.size).keys()].filter(
                  doc => segment.isLive(doc) && matches(condition, { id: segment.id(doc), source: readDocument(segment, doc) }),
                )
                expect([...view!.docs], JSON.stringify(each)).to.deep.equal(naive)
              }
            }
          } finally {
            await remove()
          }
        },
      ),
      { numRuns: 10, seed: 20261121 },
    )
  })

  it('is told by the shapes of the texts where a segment is sealed: no text is read, unless a numbered word decides', async () => {
    const documents = Array.from({ length: 40 }, (_none, at) => ({
      ...base,
      message: at % 4 === 0 ? `disk sda${at} is full` : `session ${at} of user-${at} is over`,
    }))
    const { log, remove } = await fillStorages(documents, LOG_MAPPINGS)
    try {
      const [sealed] = log.segments()
      const planned = (query: object) => {
        const { candidates, residual } = planSegment(
          bindQuery(parseQuery(query), { index: log.name, mapping: log.mapping, nowMs: 0 }),
          sealed!,
        )
        return { found: countDocs(candidates, sealed!.size), isRead: residual !== undefined }
      }
      const { size } = sealed!
      const disks = planned({ match: { message: 'disk' } }).found
      expect(planned({ prefix: { message: 'sess' } })).to.deep.equal({ found: size - disks, isRead: false })
      expect(planned({ wildcard: { message: 'd?sk' } })).to.deep.equal({ found: disks, isRead: false })
      expect(planned({ match_phrase: { message: 'is full' } })).to.deep.equal({ found: disks, isRead: false })
      expect(planned({ match_phrase_prefix: { message: 'is ov' } })).to.deep.equal({ found: size - disks, isRead: false })
      expect(planned({ prefix: { message: 'none' } })).to.deep.equal({ found: 0, isRead: false })
      expect(planned({ prefix: { message: 'sda' } })).to.deep.equal({ found: size, isRead: true })
    } finally {
      await remove()
    }
  })
})
