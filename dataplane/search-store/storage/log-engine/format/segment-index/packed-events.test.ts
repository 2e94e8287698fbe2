import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../../../../../testing/rounds.ts'
import type { IndexEvents } from '../../ingest/document-events.ts'
import { WordWriter } from '../bytes/word-writer.ts'
import { packTerms, unpackTerms } from './packed-terms.ts'
import { packValues, unpackValues } from './packed-values.ts'

interface Brought {
  readonly terms: readonly number[]
  readonly codes: readonly (readonly [slot: number, code: number])[]
  readonly numbers: readonly (readonly [slot: number, value: number])[]
}

function eventsOf(documents: readonly Brought[]): IndexEvents {
  const terms: number[] = []
  const codes: number[] = []
  const numbers: number[] = []
  const numberSlots: number[] = []
  const ends: number[] = []
  for (const document of documents) {
    for (const term of document.terms) terms.push(term)
    codes.push(...document.codes.flat())
    numbers.push(...document.numbers.map(([, value]) => value))
    numberSlots.push(...document.numbers.map(([slot]) => slot))
    ends.push(terms.length, codes.length, numbers.length)
  }
  const ints = (list: readonly number[]) => Int32Array.from([...list, 17])
  return {
    ...{ terms: ints(terms), termEnd: terms.length, codes: ints(codes), codeEnd: codes.length },
    ...{ numbers: Float64Array.from([...numbers, 17]), numberSlots: ints(numberSlots), numberEnd: numbers.length },
    ...{ ends: ints(ends), count: documents.length },
  }
}

/** Returns the bytes that they take. */
function roundTrip(documents: readonly Brought[]): number {
  const events = eventsOf(documents)
  const [values, terms] = [new WordWriter(), new WordWriter()]
  packValues(events, values)
  packTerms(events.terms, events.termEnd, terms)
  const read = unpackValues(values.written(), events.count, events.codeEnd, events.numberEnd)
  expect(read.ends).to.deep.equal(events.ends.subarray(0, 3 * events.count))
  expect(read.codes).to.deep.equal(events.codes.subarray(0, events.codeEnd))
  expect(read.numberSlots).to.deep.equal(events.numberSlots.subarray(0, events.numberEnd))
  expect(Array.from(read.numbers, value => (Object.is(value, -0) ? '-0' : value))).to.deep.equal(
    Array.from(events.numbers.subarray(0, events.numberEnd), value => (Object.is(value, -0) ? '-0' : value)),
  )
  expect(unpackTerms(terms.written(), events.termEnd)).to.deep.equal(events.terms.subarray(0, events.termEnd))
  return 2 * (values.length + terms.length)
}

describe('events packed for the log of the index', () => {
  const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
  const number = fc.oneof(
    ...[fc.nat(40_000), int32, fc.maxSafeInteger(), fc.double(), fc.integer({ min: 1.7e12, max: 1.7e12 + 80_000 })],
    fc.constantFrom(
      0,
      -0,
      0x7fff,
      0x8000,
      -0x8000,
      0xffff,
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      2 ** 60,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      0.1,
    ),
  )
  const few = [7, -1, 12_345, -(2 ** 31), 2 ** 31 - 1, 0]
  const brought = fc.record({
    terms: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...few), int32), fc.oneof(fc.constantFrom(...few), int32)))
      .map(pairs => pairs.flat()),
    codes: fc.array(fc.tuple(fc.oneof(fc.nat(3), fc.nat(100_000)), fc.nat(0xffff)), { maxLength: 4 }),
    numbers: fc.array(fc.tuple(fc.oneof(fc.nat(3), fc.nat(100_000)), number), { maxLength: 4 }),
  })

  it('come back, whatever documents bring', () => {
    fc.assert(
      fc.property(fc.array(brought, { maxLength: 60 }), documents => {
        roundTrip(documents)
      }),
      { numRuns: rounds(300), seed: 7 },
    )
  })

  it('come back where documents have more fields, and more ways of having them, than are remembered', () => {
    const wide = { terms: [], codes: Array.from({ length: 300 }, (_, k) => [k, k] as const), numbers: [] }
    const narrow = (k: number) => ({ terms: [k, k], codes: [[k, 1]] as const, numbers: [[k + 1, k / 3]] as const })
    const list = Array.from({ length: 100 }, (_, k) => narrow(k))
    roundTrip([wide, ...list, wide, ...list, wide])
  })

  it('come back where more terms follow each other as before than a word counts', () => {
    const term = (n: number) => [Math.imul(n + 1, 0x9e3779b1), Math.imul(n + 1, 0x85ebca6b)]
    for (const length of [1, 6, 7, 8, 4094, 4095, 4096, 9000]) {
      const again = Array.from({ length }, (_, n) => term(n % 5)).flat()
      const kinds = [[], term(700), term(3), [...term(700), ...term(701), ...term(702), ...term(703), ...term(704)]]
      roundTrip(kinds.map(between => ({ terms: [...again, ...between, ...again], codes: [], numbers: [] })))
    }
    roundTrip([{ terms: Array.from({ length: 70_000 }, (_, n) => term(n % 7)).flat(), codes: [[1, 2]], numbers: [[2, 3]] }])
  })

  it('take a third of their bytes where documents resemble each other', () => {
    const documents = Array.from({ length: 500 }, (_, k) => ({
      terms: Array.from({ length: 60 }, (_, n) => Math.imul(n < 50 ? n + 1 : 100 * k + n, 0x9e3779b1)),
      codes: Array.from({ length: 20 }, (_, n) => [n, (k * n) % 50] as const),
      numbers: [[30, 1_795_690_500_000 + 3 * k] as const, [31, 200] as const, [32, k / 7] as const],
    }))
    const plain = documents.length * (4 * 60 + 8 * 20 + 12 * 3 + 12)
    expect(roundTrip(documents)).to.be.lessThan(plain / 3)
  })
})
