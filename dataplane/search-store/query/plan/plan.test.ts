import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { IndexStorage } from '../../storage/index-storage.ts'
import { documents, FIRST_MS, LOG_MAPPINGS, queries } from '../../testing/arbitrary-search.ts'
import { fillStorages } from '../../testing/test-storages.ts'
import { bindQuery } from '../bind/bind.ts'
import type { Condition } from '../bind/condition.ts'
import { createPace } from '../budget/pace.ts'
import { parseQuery } from '../parse/parse.ts'
import { conditionKey } from '../run/condition-key.ts'
import { constantScore, type DocumentView, matches } from '../run/matches.ts'
import { readDocument } from '../run/segment-unit.ts'
import { walkSegment } from '../run/walk-segment.ts'
import { reduceForSegment } from './plan.ts'
import { planScore } from './plan-score.ts'

const clock = { nowMs: () => FIRST_MS, sleep: () => Promise.resolve() }

function bind(query: unknown, storage: IndexStorage): Condition {
  return bindQuery(parseQuery(query), {
    index: storage.name,
    mapping: storage.mapping,
    nowMs: FIRST_MS,
  })
}

/** Score of a document that matches: each clause that holds adds its boost. */
function scoreOf(condition: Condition, document: DocumentView): number {
  switch (condition.op) {
    case 'none':
    case 'not':
      return 0
    case 'and':
      return condition.of.reduce((sum, each) => sum + scoreOf(each, document), 0)
    case 'or': {
      const scores = condition.of.filter(each => matches(each, document)).map(each => scoreOf(each, document))
      return condition.score === 'max' ? Math.max(0, ...scores) : scores.reduce((sum, score) => sum + score, 0)
    }
    case 'scored':
      return condition.constant ? condition.factor : condition.factor * scoreOf(condition.of, document)
    default:
      return 1
  }
}

/** Ids by looking at every document. */
function naiveIds(storage: IndexStorage, condition: Condition): string[] {
  const ids: string[] = []
  for (const segment of storage.segments())
    for (let doc = 0; doc < segment.size; doc++)
      if (segment.isLive(doc) && matches(condition, { id: segment.id(doc), source: readDocument(segment, doc) })) ids.push(segment.id(doc))
  return ids.sort()
}

async function plannedIds(storage: IndexStorage, condition: Condition): Promise<string[]> {
  const ids: string[] = []
  for (const [ordinal, segment] of storage.segments().entries()) {
    const unit = { ordinal, segment, bound: { index: storage.name, mapping: storage.mapping, condition, query: condition } }
    const view = await walkSegment(unit, { fields: [], filters: [], nowMs: FIRST_MS }, createPace(clock, 1000))
    for (const doc of view!.docs) ids.push(segment.id(doc))
  }
  return ids.sort()
}

describe('a plan over postings and columns', () => {
  it('finds exactly the documents that fulfil the condition', async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.array(queries, { minLength: 10, maxLength: 40 }), async (docs, list) => {
        const storages = await fillStorages(docs, LOG_MAPPINGS)
        try {
          for (const query of list) {
            const expected = naiveIds(storages.table, bind(query, storages.table))
            const log = bind(query, storages.log)
            expect(naiveIds(storages.log, log), `log, naive: ${JSON.stringify(query)}`).to.deep.equal(expected)
            expect(await plannedIds(storages.log, log), `log, planned: ${JSON.stringify(query)}`).to.deep.equal(expected)
          }
        } finally {
          await storages.remove()
        }
      }),
      { numRuns: 12, seed: 20261121 },
    )
  })

  it('is of the condition as each segment needs it: without times that it has throughout, or has not', async () => {
    const reduced = new Set<string>()
    await fc.assert(
      fc.asyncProperty(documents, fc.array(queries, { minLength: 10, maxLength: 30 }), async (docs, list) => {
        const storages = await fillStorages(docs, LOG_MAPPINGS)
        try {
          const { log } = storages
          const far = { range: { timestamp: { lte: 17 } } }
          for (const query of [...list, ...list.map(each => ({ bool: { should: [each, far] } }))]) {
            const condition = bind(query, log)
            for (const segment of log.segments()) {
              const less = reduceForSegment(condition, segment)
              if (less !== condition) reduced.add(condition.op)
              for (let doc = 0; doc < segment.size; doc++) {
                const document = { id: segment.id(doc), source: readDocument(segment, doc) }
                expect(matches(less, document), JSON.stringify(query)).to.equal(matches(condition, document))
              }
            }
          }
        } finally {
          await storages.remove()
        }
      }),
      { numRuns: 6, seed: 20261130 },
    )
    expect([...reduced]).to.include('or')
  })

  it('is kept for a number that is looked for in all fields, the time among them', async () => {
    const storages = await fillStorages([{ timestamp: FIRST_MS, message: 'a', level: 'INFO' }], LOG_MAPPINGS)
    try {
      const [segment] = storages.log.segments()
      const key = conditionKey(reduceForSegment(bind({ query_string: { query: '17' } }, storages.log), segment!))
      expect(key).to.be.a('string')
    } finally {
      await storages.remove()
    }
  })

  it('scores as the documents themselves would', async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.array(queries, { minLength: 10, maxLength: 30 }), async (docs, list) => {
        const storages = await fillStorages(docs, LOG_MAPPINGS)
        try {
          for (const query of list) {
            const condition = bind(query, storages.log)
            const constant = constantScore(condition)
            for (const segment of storages.log.segments()) {
              const score = planScore(condition, segment)
              for (let doc = 0; doc < segment.size; doc++) {
                const document = { id: segment.id(doc), source: readDocument(segment, doc) }
                if (!matches(condition, document)) continue
                const expected = scoreOf(condition, document)
                if (constant !== undefined) expect(constant, JSON.stringify(query)).to.equal(expected)
                expect(score(doc), JSON.stringify(query)).to.equal(expected)
              }
            }
          }
        } finally {
          await storages.remove()
        }
      }),
      { numRuns: 6, seed: 20261121 },
    )
  })
})
