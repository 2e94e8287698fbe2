/** Regular expressions and fuzzy words: each answer is that of OpenSearch 3.5 on the same documents (2026-11-23). */
import { expect } from 'chai'
import { useTestStore } from '../testing/use-test-store.ts'

const VALUES = [
  ...['foobar', 'fobar', 'foboar', 'foo bar', 'FOO', 'a~b', 'a&b', 'a1', 'b', '', 'user_1', 'a"b', 'x-y', '127', 'über', 'a#b', 'foo@bar'],
]

const regexp = (value: unknown) => ({ regexp: { k: value } })
const fuzzy = (value: unknown) => ({ fuzzy: { k: value } })
const match = (field: string, query: object) => ({ match: { [field]: query } })
const text = (query: string, options: object = {}) => ({ query_string: { query, ...options } })
const simple = (query: string) => ({ simple_query_string: { fields: ['t'], query } })

const ANSWERS: readonly [query: object, ids: readonly number[]][] = [
  [regexp('foo.*'), [1, 4, 17]],
  [regexp('a\\&b'), [7]],
  [regexp('foo@'), [1, 4, 17]],
  [regexp('fo{1,2}bar'), [1, 2]],
  [regexp('[a-c]\\d'), [8]],
  [regexp('user_\\d+'), [11]],
  [regexp('a\\"b'), [12]],
  [regexp('[^f].*'), [5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16]],
  [regexp(''), [10]],
  [regexp('\\w+'), [1, 2, 3, 5, 8, 9, 11, 14]],
  [regexp('foo\\sbar'), [4]],
  [regexp('^foo.*$'), []],
  [regexp({ value: 'foo', case_insensitive: true }), [5]],
  [regexp({ value: 'ÜBER', case_insensitive: true }), [15]],
  [regexp({ value: 'f.*', max_determinized_states: 10, rewrite: 'constant_score', boost: 2 }), [1, 2, 3, 4, 17]],
  [{ regexp: { t: 'foo' } }, [4, 5, 17]],
  [{ regexp: { t: 'FOO' } }, []],
  [{ regexp: { absent: 'foo' } }, []],
  [fuzzy('foobar'), [1, 2, 3, 4, 17]],
  [fuzzy({ value: 'foobra', fuzziness: 1 }), [1]],
  [fuzzy({ value: 'foobra', fuzziness: 1, transpositions: false }), []],
  [fuzzy({ value: 'foobar', fuzziness: 2, prefix_length: 3 }), [1, 4, 17]],
  [fuzzy({ value: 'foobar', fuzziness: 0.5 }), [1]],
  [fuzzy({ value: 'foobar', fuzziness: 3 }), [1, 2, 3, 4, 17]],
  [fuzzy({ value: 'foobar', fuzziness: 'AUTO:4,9' }), [1, 2, 3, 4, 17]],
  [fuzzy({ value: '', fuzziness: 1 }), [10]],
  [fuzzy({ value: 'c', fuzziness: 1 }), [9, 10]],
  [fuzzy({ value: 128 }), [14]],
  [{ fuzzy: { t: 'fooo' } }, [4, 5, 17]],
  [{ fuzzy: { t: 'FOOO' } }, []],
  [match('t', { query: 'fooo barr', fuzziness: 'AUTO' }), [4, 5, 17]],
  [match('t', { query: 'fooo barr', fuzziness: 'AUTO', operator: 'and' }), [4, 17]],
  [match('t', { query: 'fooo barr', fuzziness: 'AUTO', minimum_should_match: 2 }), [4, 17]],
  [match('t', { query: 'fooo', fuzziness: 1, prefix_length: 4 }), []],
  [match('k', { query: 'fobar', fuzziness: 1 }), [1, 2, 3]],
  [match('n', { query: '8', fuzziness: 1, lenient: true }), []],
  [{ multi_match: { query: 'fooo', fields: ['t', 'k'], fuzziness: 1 } }, [4, 5, 17]],
  [text('t:fooo~'), [4, 5, 17]],
  [text('t:fooo~0'), []],
  [text('t:foo~3'), [4, 5, 17]],
  [text('t:fooo~0.5'), []],
  [text('t:FOOO~1'), [4, 5, 17]],
  [text('k:/fo+.*/'), [1, 2, 3, 4, 17]],
  [text('t:/FO+/'), [4, 5, 17]],
  [text('/fo+/'), [4, 5, 17]],
  [text('n:/7/'), []],
  [text('t:/fo(/'), []],
  [text('t:foo* AND t:/b.r/'), [4, 17]],
  [text('t:foob~', { fuzziness: 'AUTO:2,3' }), [1, 4, 5, 17]],
  [text('t:xfoo~1', { fuzzy_prefix_length: 1 }), []],
  [text('a/b/c'), [6, 7, 9, 12, 16]],
  [text('t:/fo+/~1'), [4, 5, 17]],
  [text('t:(/fo+/ OR bar)'), [4, 5, 17]],
  [simple('fooo~1'), [4, 5, 17]],
  [simple('fooo~'), [4, 5, 17]],
  [simple('foo~bar'), [4, 5, 17]],
]

const REFUSALS: readonly [query: object, reason: string][] = [
  [{ regexp: { n: '7' } }, 'Can only use regexp queries on keyword and text fields - not on [n] which is of type [long]'],
  [regexp('.*&.*bar'), 'operator [&] (intersection) of a regular expression'],
  [regexp('foo('), 'failed to create query: unexpected end-of-string'],
  [regexp({ value: 'x', flags: 'FOO' }), 'Unknown regexp flag [FOO]'],
  [regexp({ value: 'x', foo: 1 }), '[regexp] does not support [foo]'],
  [
    { fuzzy: { n: 7 } },
    'failed to create query: Can only use fuzzy queries on keyword and text fields - not on [n] which is of type [long]',
  ],
  [fuzzy({ value: 'foobar', fuzziness: 'AUTO:9,4' }), 'fuzziness wrongly configured'],
  [fuzzy({ value: 'foobar', fuzziness: 'x' }), 'Invalid fuzziness value: x'],
  [fuzzy({ value: 'foobar', max_expansions: 0 }), 'maxExpansions must be positive.'],
  [fuzzy({ value: 'foobar', prefix_length: -1 }), 'prefixLength cannot be negative.'],
  [fuzzy({ fuzziness: 1 }), 'query value cannot be null'],
  [match('n', { query: '7', fuzziness: 1 }), 'Can only use fuzzy queries on keyword and text fields'],
  [{ multi_match: { query: 'a', fields: ['t'], type: 'phrase', fuzziness: 1 } }, 'Fuzziness not allowed for type [phrase]'],
  [text('t:/foo'), 'Failed to parse query [t:/foo]'],
]

describe('regular expressions and fuzzy words', () => {
  const store = useTestStore()
  before(async () => {
    const mappings = { properties: { k: { type: 'keyword' }, t: { type: 'text' }, n: { type: 'long' } } }
    for (const index of ['words', 'service-logs-2026.11.21']) {
      await store.request('PUT', `/${index}`, { mappings, aliases: { fuzzy: { filter: { fuzzy: { k: 'foobar' } } } } })
      const lines = VALUES.map((value, at) => `{"index":{"_id":"${at + 1}"}}\n${JSON.stringify({ k: value, t: value, n: 7 })}\n`)
      expect((await store.request('POST', `/${index}/_bulk`, lines.join(''))).body.errors).to.equal(false)
    }
  })

  const idsOf = async (index: string, query: object): Promise<number[]> => {
    const { status, body } = await store.request('POST', `/${index}/_search`, { size: 100, query })
    expect(status, JSON.stringify([query, body])).to.equal(200)
    return body.hits.hits.map((hit: { _id: string }) => Number(hit._id)).sort((a: number, b: number) => a - b)
  }

  for (const index of ['words', 'service-logs-2026.11.21']) {
    it(`find in ${index} what OpenSearch finds`, async () => {
      for (const [query, ids] of ANSWERS) expect(await idsOf(index, query), JSON.stringify(query)).to.deep.equal(ids)
    })

    it(`are refused on ${index} as OpenSearch refuses them, or by name`, async () => {
      for (const [query, reason] of REFUSALS) {
        const { status, body } = await store.request('POST', `/${index}/_search`, { query })
        expect(status, JSON.stringify(query)).to.equal(400)
        expect(body.error.root_cause[0].reason).to.contain(reason)
      }
    })
  }

  it('filter an alias', async () => {
    expect((await store.request('POST', '/fuzzy/_count')).body.count).to.equal(10)
  })
})
