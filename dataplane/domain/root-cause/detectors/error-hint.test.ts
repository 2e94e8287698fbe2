import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readErrors } from '../errors/error-reader.ts'
import type { Kind, ObservedRecord } from '../observed/observed-system.ts'
import { hintOf, wordsOf } from './error-hint.ts'
import type { Tally } from './error-tallies.ts'

const services = ['gateway', 'orders', 'payments']
const ORDERS = 1
const PAYMENTS = 2

const kindOf = (service: number, pattern: string, id = 0): Kind => ({
  ...{ id, service, pattern, patternId: `p${id}`, isError: true, isWarning: false, isDebug: false },
  ...{ errorTexts: [], called: [], queues: new Set() },
})

interface Case {
  readonly title: string
  readonly says: string
  readonly tally?: Partial<Tally>
  readonly expected?: number
  readonly text: string
  readonly nature: string
}

const CASES: readonly Case[] = [
  {
    title: 'of its own is a fault',
    says: 'no charge',
    text: '“no charge” is a new error: 4 times, never before',
    nature: 'fault',
  },
  {
    title: 'that came before says how often it was expected',
    says: 'no charge',
    tally: { units: [2, 4] },
    expected: 1,
    text: '“no charge” is an error that comes more often: 4 times, 1 expected',
    nature: 'fault',
  },
  {
    title: 'with a reason of its own is a cause',
    says: 'java.lang.OutOfMemoryError: Java heap space',
    text: '“java.lang.OutOfMemoryError: Java heap space” is a new error: 4 times, never before',
    nature: 'cause',
  },
  {
    title: 'of another service blames this one',
    says: 'payments does not answer',
    tally: { service: PAYMENTS },
    text: 'orders blames it: “payments does not answer” 4 times, never before',
    nature: 'fault',
  },
  {
    title: 'that follows others is remote',
    says: 'no charge',
    tally: { isEcho: true, followed: new Set([PAYMENTS]) },
    text: 'it fails after errors of payments: “no charge” 4 times, never before',
    nature: 'remote',
  },
  {
    title: 'that blames others is remote',
    says: 'payments does not answer',
    tally: { isEcho: true, blamed: new Set([PAYMENTS, 0]) },
    text: 'it blames payments and gateway: “payments does not answer” 4 times, never before',
    nature: 'remote',
  },
  {
    title: 'that complains of what it does not name says so',
    says: 'upstream connect error: connection refused',
    tally: { isEcho: true },
    text: 'it complains of something else, and does not name it: “upstream connect error: connection refused” 4 times, never before',
    nature: 'remote',
  },
  {
    title: 'that tells nothing says so',
    says: 'request failed',
    tally: { isEcho: true },
    text: 'it fails, and does not say why: “request failed” 4 times, never before',
    nature: 'remote',
  },
]

describe('errors as evidence', () => {
  for (const { title, says, tally = {}, expected = 0, text, nature } of CASES)
    it(`an error ${title}`, () => {
      const kind = kindOf(ORDERS, says)
      const records = Array.from({ length: 4 }, () => ({ kind, isError: true }) as ObservedRecord)
      const whole: Tally = {
        service: ORDERS,
        speaker: ORDERS,
        isEcho: false,
        blamed: new Set(),
        followed: new Set(),
        kind,
        units: [0, 4],
        isOfRequests: true,
        records,
        ...tally,
      }
      const hint = hintOf(whole, { strength: 3, isKill: false, isLasting: false, expected, services, reader: readErrors(services, [kind]) })
      expect(hint).to.include({ service: whole.service, strength: 3, nature, isErrors: true })
      expect(hint.tell()).to.include({ kind: 'errors', text, count: 4, expected, patternId: 'p0' })
    })

  it('of several kinds the one is quoted that tells why', () => {
    const kinds = [
      kindOf(ORDERS, 'no cart'),
      kindOf(ORDERS, 'no cart left', 1),
      kindOf(ORDERS, 'java.lang.OutOfMemoryError: Java heap space', 2),
    ]
    const records = kinds.map(kind => ({ kind, isError: true }) as ObservedRecord)
    const tally: Tally = {
      service: ORDERS,
      speaker: ORDERS,
      isEcho: false,
      blamed: new Set(),
      followed: new Set(),
      kind: undefined,
      units: [0, 3],
      isOfRequests: true,
      records,
    }
    const hint = hintOf(tally, { strength: 3, isKill: false, isLasting: false, expected: 0, services, reader: readErrors(services, kinds) })
    expect(hint.tell().text).to.equal(
      'errors of several kinds, “java.lang.OutOfMemoryError: Java heap space” among them, 3 times, never before',
    )
  })

  it('words are those that were read of its records, else its pattern', () => {
    expect(wordsOf(kindOf(ORDERS, 'no <*>'))).to.deep.equal(['no <*>'])
    expect(wordsOf({ ...kindOf(ORDERS, 'no <*>'), errorTexts: ['no cart'] })).to.deep.equal(['no cart'])
  })
})
