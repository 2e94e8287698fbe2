import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { compress } from '../../../../../compression/zstd.ts'
import { rounds } from '../../../../../testing/rounds.ts'
import { idKeyOf } from '../document-id.ts'
import { DocumentRows } from '../document-rows.ts'
import { BLOCK_DOCS } from './block.ts'
import { packMessages } from './cut-messages.ts'
import { layOutMessages, PlainMessages } from './message-column.ts'
import { CutMessages } from './read-messages.ts'

const PREFIX = '{"message":"'
/** Blocks that may be passed over behind one whose messages had too little in common. */
const MOST_PASSED_OVER = 17

/** Messages as JSON has them; undefined: a document without one. */
function layOut(messages: readonly (string | undefined)[]): Buffer {
  const rows = new DocumentRows()
  const id = idKeyOf('any')
  for (const text of messages) {
    const source = Buffer.from(text === undefined ? '{"other":1}' : `${PREFIX}${text}"}`)
    rows.addDocument(text === undefined ? { id, source } : { id, source, message: { start: PREFIX.length, end: source.length - 2 } })
  }
  return layOutMessages(rows, 0, rows.length)
}

/** The bytes of the messages, which come back; undefined: they are not cut. */
function roundTrip(messages: readonly (string | undefined)[]): number | undefined {
  const raw = layOut(messages)
  const packed = packMessages(raw, messages.length)
  if (packed === undefined) return undefined
  const read = new CutMessages(packed, messages.length, raw.length)
  const plain = new PlainMessages(raw, messages.length)
  for (const [k, text] of messages.entries()) {
    expect(read.get(k)?.toString()).to.equal(text)
    expect(read.span(k)).to.deep.equal(plain.span(k))
  }
  return packed.length
}

/** Messages that are cut, until those are that come next. */
function cutAgain(): void {
  const known = Array.from({ length: BLOCK_DOCS }, (_, k) => `request ${k} of user ${k * 7919} was answered in time`)
  for (let block = 0; block < MOST_PASSED_OVER && roundTrip(known) === undefined; block++);
}

describe('messages of a block with values cut out', () => {
  it('come back in two thirds of the space', () => {
    cutAgain()
    const hex = (k: number, digits: number) => createHash('sha1').update(String(k)).digest('hex').slice(0, digits)
    const messages = Array.from({ length: BLOCK_DOCS }, (_, k) =>
      k % 11 === 0
        ? `pool HikariPool-1 is ${k % 100}% used (active=${(k * 31) % 50}, idle=1)`
        : `request completed: route=/api/v2/${['cart', 'orders', 'login'][k % 3]} status=200 bytes=${(k * 7919) % 60_000} session=${hex(k, 16)} client=10.${k}.${(k * 31) % 256}.7 agent=\\"Mozilla/5.0 (X11)\\"`,
    )
    const bytes = roundTrip(messages)!
    expect(bytes / compress(layOut(messages)).length).to.be.lessThan(0.67)
  })

  it('take no more space than before where an id comes again and again', () => {
    cutAgain()
    const trace = (k: number) =>
      createHash('sha1')
        .update(String(k >>> 5))
        .digest('hex')
        .slice(0, 32)
    const messages = Array.from(
      { length: BLOCK_DOCS },
      (_, k) => `step ${k % 7} of trace=${trace(k)} was done by worker ${k * 7919} in time`,
    )
    expect(roundTrip(messages)!).to.be.lessThan(compress(layOut(messages)).length)
  })

  it('take no more space than zstd makes of them where addresses are of one network', () => {
    cutAgain()
    const messages = Array.from(
      { length: BLOCK_DOCS },
      (_, k) => `a client from 10.20.${k % 3}.${(k * 31) % 256} was answered in time ${k % 7}`,
    )
    const none = messages.map(text => text.replace(/10.20.\d+.\d+/, 'nowhere'))
    // Two of the four bytes are the same in all addresses.
    expect(roundTrip(messages)! - roundTrip(none)!).to.be.lessThan(0.75 * 4 * BLOCK_DOCS)
  })

  const odd: readonly [string, (k: number) => string][] = [
    ['numbers with and without zeros in front', k => ['0', '00', '007', '999999999', '000000000', '0000000001', String(k)][k % 7]!],
    ['long numbers', k => `${k % 2 === 0 ? '1795733206' : ''}${String(k * 7919).padStart(9 + (k % 4), '0')}`],
    [
      'addresses, and what looks like one',
      k => ['10.0.0.1', '256.1.1.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', `${k % 256}.255.0.9`, '1.2.3.4x'][k % 7]!,
    ],
    ['hex digits', k => ['dead', 'beef01', '0ABC', 'a1b2c', '7e7380de', '1e5', '12ab', `${k}ab`, `e${k}`, 'f'.repeat(63) + k][k % 10]!],
    ['UUIDs', k => `00000000-0000-4000-8000-${String(k).padStart(12, '0')}`],
    ['numbers with units', k => [`${k}ms`, `${k}_`, `${k}é`, `${k}a`, `v${k}`, `x${k}y`, `${k}.${k}s`, `-${k}`, `1e${k}`][k % 9]!],
    ['versions', k => `1.${k % 3}.${k % 10}`],
    ['nothing', () => ''],
    ['escapes', k => `\\"\\u00${(k % 90) + 10}\\n${k}\\\\`],
  ]
  for (const [what, textOf] of odd)
    it(`may hold ${what}`, () => {
      for (const around of [(text: string) => text, (text: string) => `it took ${text} to make ${text}, they say`]) {
        cutAgain()
        const known = (k: number) => `request ${k} of user ${k * 7919} was answered in time by a server that is far away`
        const messages = Array.from({ length: BLOCK_DOCS }, (_, k) => (k % 3 === 0 ? around(textOf(k)) : known(k)))
        expect(roundTrip(messages), what).to.not.equal(undefined)
      }
    })

  it('come back, whatever stands in them', () => {
    const value = fc.oneof(
      fc.nat().map(String),
      fc.stringMatching(/^[0-9]{1,14}$/),
      fc.stringMatching(/^[0-9a-f]{1,70}$/),
      fc.ipV4(),
      fc.uuid(),
      fc.double({ noNaN: true }).map(String),
      fc.stringMatching(/^[0-9a-zA-Z._é/-]{0,9}$/),
    )
    const template = fc.array(
      fc.constantFrom('', ' ', '=', '.', 'x', ' took ', ' of user ', '-', '0', 'a', '_', '9', 'é', 'request answered in time '),
      {
        maxLength: 8,
      },
    )
    const block = fc.record({
      templates: fc.array(template, { minLength: 1, maxLength: 4 }),
      values: fc.array(value, { minLength: 1, maxLength: 60 }),
      docs: fc.integer({ min: 1, max: BLOCK_DOCS }),
      lacks: fc.integer({ min: 1, max: 9 }),
    })
    let cut = 0
    fc.assert(
      fc.property(block, ({ templates, values, docs, lacks }) => {
        const messages = Array.from({ length: docs }, (_, k) => {
          if (k % 10 >= lacks) return undefined
          const text = templates[k % templates.length]!.map((piece, n) => `${piece}${values[(7 * k + n) % values.length]}`).join('')
          return `${text} and all was well in the end${k % 5 === 0 ? '' : ` ${k * 7919}`}`
        })
        cutAgain()
        if (roundTrip(messages) !== undefined) cut++
      }),
      { numRuns: rounds(400), seed: 11 },
    )
    expect(cut).to.be.greaterThan(rounds(150))
  })

  it('stay as they are where they have too little in common', () => {
    cutAgain()
    const prose = Array.from({ length: BLOCK_DOCS }, (_, k) => `${'abcdefghij'[k % 10]}${'klmno'[k % 5]} said ${'so '.repeat(k)} and left`)
    expect(roundTrip(prose)).to.equal(undefined)
    expect(roundTrip(['few 1', 'few 2'])).to.equal(undefined)
  })
})
