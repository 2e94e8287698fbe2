import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { applyCompletion, completeField, completionAt } from './complete.ts'
import { addTerm, filterOf, setFilter, topTerms, withoutField } from './edit-search.ts'
import { KNOWN_FIELDS, readFieldCaps } from './field-catalog.ts'
import { MAX_SEARCH_DEPTH, MAX_SEARCH_LENGTH, parseSearch } from './parse-search.ts'
import { formatField, formatTerm, formatValue } from './spelling.ts'
import { translateSearch, wordsToMark } from './to-query.ts'

const catalog = readFieldCaps({
  fields: { duration_ms: { double: {} }, 'http.method': { keyword: {} }, mixed: { keyword: {}, long: {} }, _id: { _id: {} } },
})

const queryOf = (text: string): unknown => {
  const translated = translateSearch(text, catalog)
  return translated.ok ? translated.query : translated.problem.message
}
/** Letters, what the language has a meaning for, and what lies beyond ASCII. */
const CHARACTER = fc.constantFrom(...'aZ0 \t\n"\\()[]{}:*?<>=-!,.@/_éß漢\0', '😀', 'OR', 'AND', '\ud800')
const phrase = (text: string) => ({ match_phrase: { message: text } })

describe('the search box: what a search asks of the store', () => {
  const cases: readonly (readonly [search: string, query: unknown])[] = [
    ['', { match_all: {} }],
    ['   ', { match_all: {} }],
    ['timeout', phrase('timeout')],
    ['payment-api', phrase('payment-api')],
    ['"disk full"', phrase('disk full')],
    ['"say \\"no\\""', phrase('say "no"')],
    ['"no space\\n\\tleft \\\\n"', phrase('no space\n\tleft \\n')],
    ['timeout error', { bool: { filter: [phrase('timeout'), phrase('error')] } }],
    ['timeout AND error', { bool: { filter: [phrase('timeout'), phrase('error')] } }],
    ['a OR b c', { bool: { should: [phrase('a'), { bool: { filter: [phrase('b'), phrase('c')] } }], minimum_should_match: 1 } }],
    ['(a OR b) c', { bool: { filter: [{ bool: { should: [phrase('a'), phrase('b')], minimum_should_match: 1 } }, phrase('c')] } }],
    ['-debug', { bool: { must_not: [phrase('debug')] } }],
    ['NOT debug', { bool: { must_not: [phrase('debug')] } }],
    ['a -b NOT c', { bool: { filter: [phrase('a')], must_not: [phrase('b'), phrase('c')] } }],
    ['service:orders', { term: { service: 'orders' } }],
    ['service:"the orders"', { term: { service: 'the orders' } }],
    ['-service:orders', { bool: { must_not: [{ term: { service: 'orders' } }] } }],
    ['service:(orders OR "a b")', { terms: { service: ['orders', 'a b'] } }],
    [
      'service:(orders OR pay*)',
      { bool: { should: [{ term: { service: 'orders' } }, { prefix: { service: { value: 'pay' } } }], minimum_should_match: 1 } },
    ],
    ['service:shop-*', { prefix: { service: { value: 'shop-' } } }],
    ['service:*-api', { wildcard: { service: { value: '*-api' } } }],
    ['service:a\\*b', { term: { service: 'a*b' } }],
    ['level:error', { term: { level: 'ERROR' } }],
    ['level:warning', { term: { level: 'WARN' } }],
    ['level:(err OR crit)', { terms: { level: ['ERROR', 'FATAL'] } }],
    ['duration_ms:500', { term: { duration_ms: 500 } }],
    ['duration_ms:>500', { range: { duration_ms: { gt: 500 } } }],
    ['duration_ms:<=0.5', { range: { duration_ms: { lte: 0.5 } } }],
    ['duration_ms:[100 TO 500}', { range: { duration_ms: { gte: 100, lt: 500 } } }],
    ['duration_ms:{* TO 500]', { range: { duration_ms: { lte: 500 } } }],
    ['anomaly_score:>-1', { range: { anomaly_score: { gt: -1 } } }],
    ['timestamp:>=now-1h', { range: { timestamp: { gte: 'now-1h' } } }],
    ['timestamp:["2026-01-01 10:00" TO 2026-01-02]', { range: { timestamp: { gte: '2026-01-01T10:00', lte: '2026-01-02' } } }],
    ['is_anomaly:true', { term: { is_anomaly: true } }],
    ['trace_id:*', { exists: { field: 'trace_id' } }],
    ['_exists_:trace_id', { exists: { field: 'trace_id' } }],
    ['-trace_id:*', { bool: { must_not: [{ exists: { field: 'trace_id' } }] } }],
    ['message:timeout', phrase('timeout')],
    ['message:time*', { prefix: { message: { value: 'time' } } }],
    ['Time*', { prefix: { message: { value: 'time' } } }],
    ['t?me*ut', { wildcard: { message: { value: 't?me*ut' } } }],
    ['connection-ref*', { match_phrase_prefix: { message: 'connection-ref' } }],
    ['https://example.com/a', phrase('https://example.com/a')],
    ['12:30:05', phrase('12:30:05')],
    ['attributes.service.version:1.2', { term: { 'attributes.service.version': '1.2' } }],
    ['http.method:GET', { term: { 'http.method': 'GET' } }],
    ['mixed:5', { term: { mixed: '5' } }],
    ['unheard:of', { term: { unheard: 'of' } }],
    ['"AND"', phrase('AND')],
    [
      '0c5c7fd0a6a3a4506513270e269e0d37',
      {
        bool: {
          should: [phrase('0c5c7fd0a6a3a4506513270e269e0d37'), { term: { trace_id: '0c5c7fd0a6a3a4506513270e269e0d37' } }],
          minimum_should_match: 1,
        },
      },
    ],
  ]
  for (const [search, query] of cases) it(search === '' ? 'nothing' : search, () => expect(queryOf(search)).to.deep.equal(query))
})

describe('the search box: what cannot be read says where, and what to write instead', () => {
  const cases: readonly (readonly [search: string, at: number, message: RegExp, instead: RegExp])[] = [
    ['a "b c', 2, /quote .* not closed/, /^"b c"$/],
    ['(a OR b', 0, /parenthesis .* not closed/, /^\(a OR b\)$/],
    ['a b)', 3, /closes nothing/, /^a b$/],
    ['a AND', 2, /missing at the end/, /^a$/],
    ['OR a', 0, /missing beside OR/, /quotes/],
    ['service:', 0, /value of service is missing/, /service:value/],
    ['service: orders', 0, /value of service is missing/, /service:\*/],
    ['service:(a b)', 11, /OR is missing/, /service:\(one OR two\)/],
    ['service:(a OR', 8, /values in parentheses/, /OR two/],
    ['duration_ms:fast', 0, /holds numbers, and "fast" is none/, /duration_ms:>=500/],
    ['duration_ms:5*', 0, /no \* or \?/, />=500/],
    ['duration_ms:>', 12, /missing behind >/, />500/],
    ['duration_ms:[1 5]', 12, /two ends/, /\[100 TO 500\]/],
    ['is_anomaly:yes', 0, /true or false/, /is_anomaly:true/],
    ['timestamp:>yesterday', 0, /no time/, /now-1h/],
    ['pattern:x', 0, /cannot be searched/, /pattern_id/],
    ['message:>5', 0, /no ranges/, /message:word/],
    ['...', 0, /holds no word/, /letter/],
    ['a NOT', 2, /missing at the end/, /^a$/],
    [`${'('.repeat(MAX_SEARCH_DEPTH + 2)}a`, MAX_SEARCH_DEPTH, /more than 20 times/, /fewer/],
    ['a '.repeat(201), 400, /more than 200 terms/, /fewer/],
    ['a'.repeat(MAX_SEARCH_LENGTH + 1), MAX_SEARCH_LENGTH, /4001 characters/, /fewer/],
  ]
  for (const [search, at, message, instead] of cases)
    it(search.slice(0, 40), () => {
      const translated = translateSearch(search, catalog)
      if (translated.ok) expect.fail(JSON.stringify(translated.query))
      expect(translated.problem.message).to.match(message)
      expect(translated.problem.instead).to.match(instead)
      expect(translated.problem.at).to.equal(at)
    })

  it('any text gets an answer, and places lie within it', () => {
    const part = fc.constantFrom(
      'a',
      'service:',
      '"',
      '(',
      ')',
      ' ',
      '-',
      'OR',
      ' AND ',
      'NOT ',
      '*',
      '?',
      '[1 TO 2]',
      '>',
      '\\',
      ':',
      '{',
      'é',
      '😀',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), parts => {
        const text = parts.join('')
        const translated = translateSearch(text, catalog)
        const place = translated.ok ? translated.expression : translated.problem
        expect(place.at).to.be.within(0, text.length)
        expect(place.end).to.be.within(place.at, text.length)
      }),
    )
  })
})

describe('the search box: a value filtered in or out', () => {
  const cases: readonly (readonly [search: string, field: string, value: string, kind: 'in' | 'out' | 'none', then: string])[] = [
    ['', 'service', 'orders', 'in', 'service:orders'],
    ['', 'service', 'the orders', 'out', '-service:"the orders"'],
    ['timeout', 'service', 'orders', 'in', 'timeout service:orders'],
    ['a OR b', 'service', 'orders', 'in', '(a OR b) service:orders'],
    ['(a OR b)', 'service', 'orders', 'in', '(a OR b) service:orders'],
    ['(a OR b) OR c', 'service', 'orders', 'in', '((a OR b) OR c) service:orders'],
    ['service:orders x', 'service', 'payments', 'in', 'service:(orders OR payments) x'],
    ['service:(orders OR payments) x', 'service', 'orders', 'none', 'service:payments x'],
    ['service:orders x', 'service', 'orders', 'none', 'x'],
    ['service:orders', 'service', 'orders', 'out', '-service:orders'],
    ['-service:orders', 'service', 'orders', 'in', 'service:orders'],
    ['-service:orders', 'service', 'payments', 'out', '-service:(orders OR payments)'],
    ['service:orders', 'service', 'orders', 'in', 'service:orders'],
    ['service:pay* a', 'service', 'orders', 'out', 'service:pay* a -service:orders'],
    ['duration_ms:>5', 'duration_ms', '7', 'in', 'duration_ms:>5 duration_ms:7'],
    ['"not closed', 'service', 'orders', 'in', 'service:orders'],
    ['', 'http.path', '/api/orders', 'in', 'http.path:"/api/orders"'],
    ['', 'http.path', '//a', 'in', 'http.path:"//a"'],
  ]
  for (const [search, field, value, kind, then] of cases)
    it(`${search || 'nothing'}, ${value} ${kind}`, () => expect(setFilter(search, field, value, kind)).to.equal(then))

  it('any value stands in the search as it is, and can be taken out again', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20, unit: CHARACTER }),
        fc.constantFrom('in' as const, 'out' as const),
        (value, kind) => {
          const search = setFilter('timeout', 'host', value, kind)
          expect(filterOf(search, 'host', value)).to.equal(kind)
          expect(setFilter(search, 'host', value, 'none')).to.equal('timeout')
          const parsed = parseSearch(`host:${formatValue(value)}`)
          expect(parsed.ok && parsed.expression.kind === 'field' && parsed.expression.test).to.deep.include({ kind: 'is', value })
        },
      ),
    )
  })

  it('values that are not one plain word are quoted', () => {
    expect(formatTerm('service', 'a b')).to.equal('service:"a b"')
    expect(formatTerm('service', 'a"b')).to.equal(String.raw`service:"a\"b"`)
    for (const value of ['a b', 'a"b', 'a:b', '*', 'OR', 'back\\slash'])
      expect(parseSearch(formatTerm('service', value)), value).to.have.nested.property('expression.test.value', value)
    expect(formatTerm('service', 'zahlung-é.v1/x')).to.equal('service:zahlung-é.v1/x')
  })

  it('a value of several lines stands on one', () => {
    const value = 'Error: x\r\n\tat main (C:\\new\\table.ts)'
    const search = setFilter('', 'host', value, 'in')
    expect(search).to.not.match(/[\r\n\t]/)
    expect(queryOf(search)).to.deep.equal({ term: { host: value } })
    expect(completionAt('host:"a\\nb', 10)).to.deep.include({ kind: 'value', prefix: 'a\nb' })
  })

  it('a field of any name can be asked for, and left out', () => {
    for (const field of ['a b', '2xx', 'a:b', '<img src=x>', '"q"', '-a', 'ü(x)', 'back\\slash', 'http.request.header.[x]', '*'])
      for (const kind of ['in', 'out'] as const) {
        const search = setFilter('timeout', field, 'v 1', kind)
        expect(filterOf(search, field, 'v 1'), search).to.equal(kind)
        expect(setFilter(search, field, 'v 1', 'none')).to.equal('timeout')
        expect(withoutField(search, field)).to.equal('timeout')
        expect(JSON.stringify(queryOf(search))).to.include(JSON.stringify({ term: { [field]: 'v 1' } }))
      }
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20, unit: CHARACTER }), name => {
        const parsed = parseSearch(`${formatField(name)}:x`)
        expect(parsed.ok && parsed.expression).to.deep.include({ kind: 'field', field: name })
      }),
    )
    expect(applyCompletion('a', completionAt('a', 1)!, 'a b').text).to.equal('a\\ b:')
    // An address and a time are text as before.
    expect(queryOf('https://example.com')).to.deep.equal(phrase('https://example.com'))
    expect(queryOf('12:30:05')).to.deep.equal(phrase('12:30:05'))
  })

  it('what a facet of a field counts is the search without terms on it', () => {
    expect(withoutField('a service:(x OR y) -service:z level:ERROR', 'service')).to.equal('a level:ERROR')
    expect(withoutField('a OR service:x', 'service')).to.equal('a OR service:x')
  })

  it('terms are those that must all hold', () => {
    expect(topTerms('a AND (b OR c) -d')?.map(term => term.text)).to.deep.equal(['a', '(b OR c)', '-d'])
    expect(topTerms('a OR b')?.map(term => term.text)).to.deep.equal(['a OR b'])
    expect(addTerm('a', 'b')).to.equal('a b')
  })
})

describe('the search box: completion', () => {
  it('of a name of a field, of a value, of nothing within a phrase', () => {
    expect(completionAt('serv', 4)).to.deep.equal({ kind: 'field', prefix: 'serv', from: 0, to: 4 })
    expect(completionAt('a -lev', 6)).to.deep.include({ kind: 'field', prefix: 'lev', from: 3 })
    expect(completionAt('a ', 2)).to.deep.include({ kind: 'field', prefix: '' })
    expect(completionAt('service:', 8)).to.deep.equal({ kind: 'value', field: 'service', prefix: '', from: 8, to: 8 })
    expect(completionAt('a service:or', 12)).to.deep.include({ kind: 'value', field: 'service', prefix: 'or', from: 10 })
    expect(completionAt('service:"the or', 15)).to.deep.include({ kind: 'value', prefix: 'the or', from: 8 })
    expect(completionAt('service:(orders OR pa', 21)).to.deep.include({ kind: 'value', field: 'service', prefix: 'pa', from: 19 })
    expect(completionAt('"a serv', 7)).to.equal(undefined)
    expect(completionAt('duration_ms:>5', 14)).to.equal(undefined)
  })

  it('replaces the part at the cursor', () => {
    const value = completionAt('service:or level:ERROR', 10)!
    expect(applyCompletion('service:or level:ERROR', value, 'the orders')).to.deep.equal({
      text: 'service:"the orders" level:ERROR',
      cursor: 20,
    })
    const field = completionAt('lev', 3)!
    expect(applyCompletion('lev', field, 'level')).to.deep.equal({ text: 'level:', cursor: 6 })
  })

  it('names that begin with the text come first', () => {
    expect(completeField('s', KNOWN_FIELDS, 4)).to.deep.equal(['service', 'span_id', 'severity_number', 'timestamp'])
    expect(completeField('pattern', KNOWN_FIELDS)).to.deep.equal(['pattern_id'])
  })
})

it('words that are asked for are marked, those that are left out are not', () => {
  const parsed = parseSearch('timeout "disk full" -debug message:err* service:x')
  expect(parsed.ok && wordsToMark(parsed.expression)).to.deep.equal(['timeout', 'disk full', 'err*'])
})
