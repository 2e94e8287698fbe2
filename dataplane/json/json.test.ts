/** All that reads bytes of JSON, held against `JSON.parse` and `JSON.stringify` on the same generated texts. */
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { rounds } from '../testing/rounds.ts'
import { asciiStringEnd, NOWHERE, plainStringEnd, skipSpace, stringEnd } from './bytes.ts'
import { isDeeperThan } from './depth.ts'
import { Fault } from './fault.ts'
import { hasMoreNamesThan, hasMoreValues } from './mark-count.ts'
import { integerEnd, plainDoubleEnd, scanNumber } from './numbers.ts'
import { pathAt } from './path.ts'
import { phrase, phraseEnd } from './phrase.ts'
import { closeBrackets, parseRange, roughElements, roughEnd, roughMembers } from './rough.ts'
import { ValueReader, valueEnd } from './strict.ts'
import { StringScanner } from './string-scanner.ts'
import { splitMembers } from './text-members.ts'
import { areLowerHex } from './words.ts'

const SETTINGS = { seed: 1, numRuns: rounds(500) } as const

/** Texts with quotes, backslashes, brackets, controls and characters of every length in them. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc
    .array(fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\u0000', '\n', 'é', '漢', '😀', 'a'), { maxLength: 10 })
    .map(parts => parts.join('')),
)
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}))
const object = fc.dictionary(text, value, { maxKeys: 5 })

/** The value as JSON with white space wherever it may stand. */
function spaced(json: unknown, space: string): string {
  if (Array.isArray(json)) return `[${space}${json.map(item => spaced(item, space)).join(`${space},${space}`)}${space}]`
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  const members = Object.entries(json).map(([name, member]) => `${JSON.stringify(name)}${space}:${space}${spaced(member, space)}`)
  return `{${space}${members.join(`${space},${space}`)}${space}}`
}
const space = fc.constantFrom('', ' ', '\n\t', '\r  ')

/** JSON, and texts that differ from JSON in a byte or break off. */
const almostJson = fc
  .tuple(
    value,
    space,
    fc.nat(),
    fc.constantFrom('', '"', '\\', '{', ']', ',', ':', '0', '-', '.', 'e', ' ', '\u0001', 'é'),
    fc.nat({ max: 3 }),
  )
  .map(([json, around, at, inserted, kind]) => {
    const whole = spaced(json, around)
    const place = at % (whole.length + 1)
    if (kind === 0) return whole
    if (kind === 1) return whole.slice(0, place)
    return whole.slice(0, place) + inserted + whole.slice(kind === 2 ? place : place + 1)
  })
  .map(changed => changed.toWellFormed())

function parsed(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) }
  } catch {
    return undefined
  }
}

function isStrictJson(b: Uint8Array): boolean {
  try {
    return skipSpace(b, valueEnd(b, skipSpace(b, 0), { add() {} })) === b.length
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

function outcome(read: () => number): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return { offset: error.offset, expected: error.expected }
    throw error
  }
}

function depthOf(json: unknown): number {
  return typeof json === 'object' && json !== null ? 1 + Math.max(0, ...Object.values(json).map(depthOf)) : 0
}

describe('JSON read byte by byte', () => {
  it('is taken where JSON.parse takes it, and nowhere else', () => {
    fc.assert(
      fc.property(almostJson, json => {
        expect(isStrictJson(Buffer.from(json)), json).to.equal(parsed(json) !== undefined)
      }),
      { ...SETTINGS, numRuns: rounds(3_000) },
    )
  })

  it('ends where the value ends, whatever follows it', () => {
    fc.assert(
      fc.property(value, space, fc.constantFrom('', ',', ']', '}', ' 1'), (json, around, behind) => {
        const own = spaced(json, around)
        const b = Buffer.from(own + behind)
        const end = Buffer.byteLength(own)
        expect(valueEnd(b, 0, { add() {} })).to.equal(end)
        expect(roughEnd(b, 0)).to.equal(end)
        expect(roughEnd(b, 0, end - 1)).to.be.oneOf([NOWHERE, end - 1])
      }),
      SETTINGS,
    )
  })

  it('is read with rests as it is read in one go, up to the same fault', () => {
    fc.assert(
      fc.property(almostJson, fc.nat(5), (json, bytes) => {
        const b = Buffer.from(json)
        const start = skipSpace(b, 0)
        const withRests = () => {
          const reader = new ValueReader(b, start, { add() {} })
          while (!reader.goOn(reader.position + bytes)) expect(reader.position).to.be.below(b.length + 1)
          return reader.position
        }
        expect(outcome(withRests), json).to.deep.equal(outcome(() => valueEnd(b, start, { add() {} })))
      }),
      SETTINGS,
    )
  })

  it('has the members and elements that JSON.parse finds', () => {
    fc.assert(
      fc.property(object, space, (json, around) => {
        const b = Buffer.from(spaced(json, around))
        const members = [...roughMembers(b, { start: 0, end: b.length })!].map(([name, range]) => [name, parseRange(b, range)])
        expect(members).to.deep.equal(
          Object.entries(JSON.parse(b.toString()))
            .map(([name, member]) => [name, { value: member }])
            .sort(byPlace(members)),
        )
        const list = Buffer.from(spaced(Object.values(json), around))
        const elements = [...roughElements(list, { start: 0, end: list.length })].map(range => parseRange(list, range!))
        expect(elements).to.deep.equal((JSON.parse(list.toString()) as unknown[]).map(element => ({ value: element })))
      }),
      SETTINGS,
    )
  })

  it('of an object as JSON.stringify writes it falls into texts that lose no digit', () => {
    fc.assert(
      fc.property(object, json => {
        const members = splitMembers(JSON.stringify(json))
        expect(Object.fromEntries([...members].map(([name, member]) => [name, JSON.parse(member)]))).to.deep.equal(
          JSON.parse(JSON.stringify(json)),
        )
      }),
      SETTINGS,
    )
    expect([...splitMembers('{"a":12345678901234567890,"a":1.50}')]).to.deep.equal([['a', '1.50']])
  })

  it('is as deep as the value, and brackets in strings do not count', () => {
    fc.assert(
      fc.property(value, space, (json, around) => {
        const b = Buffer.from(spaced(json, around))
        const depth = depthOf(json)
        expect(isDeeperThan(b, depth)).to.equal(false)
        if (depth > 0) expect(isDeeperThan(b, depth - 1)).to.equal(true)
      }),
      SETTINGS,
    )
  })

  it('has as many values as commas stand between them, those in strings not counted', () => {
    const leaves = (json: unknown): number => {
      const inside = typeof json === 'object' && json !== null ? Object.values(json) : []
      return inside.length === 0 ? 1 : inside.reduce((sum: number, each) => sum + leaves(each), 0)
    }
    fc.assert(
      fc.property(value, space, (json, around) => {
        const b = Buffer.from(spaced(json, around))
        const count = leaves(json)
        expect(hasMoreValues(b, count)).to.equal(false)
        expect(hasMoreValues(b, count - 1)).to.equal(count > 1)
      }),
      SETTINGS,
    )
  })

  it('has as many names as its objects together, those in strings not counted', () => {
    const namesIn = (json: unknown): number => {
      if (typeof json !== 'object' || json === null) return 0
      const inside = Object.values(json).reduce((sum: number, each) => sum + namesIn(each), 0)
      return inside + (Array.isArray(json) ? 0 : Object.keys(json).length)
    }
    fc.assert(
      fc.property(value, space, (json, around) => {
        const b = Buffer.from(spaced(json, around))
        const count = namesIn(json)
        expect(hasMoreNamesThan(b, count)).to.equal(false)
        expect(hasMoreNamesThan(b, count - 1)).to.equal(count > 0)
      }),
      SETTINGS,
    )
  })

  it('that breaks off can be read again once its brackets are closed', () => {
    fc.assert(
      fc.property(object, fc.nat(), (json, at) => {
        const b = Buffer.from(JSON.stringify(json))
        const part = b.subarray(0, 1 + (at % b.length))
        expect(roughEnd(closeBrackets(part), 0), part.toString()).not.to.equal(NOWHERE)
      }),
      SETTINGS,
    )
  })

  it('is named in errors by the way to it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,9}$/), fc.array(value, { maxLength: 3 }), (name, before) => {
        const json = `{"x":1,"${name}":[${before.map(each => `${JSON.stringify(each)},`).join('')}!`
        expect(pathAt(Buffer.from(json), Buffer.byteLength(json) - 1)).to.equal(`${name}[${before.length}]`)
      }),
      SETTINGS,
    )
  })
})

describe('strings of JSON', () => {
  it('end at the quote that JSON.parse ends them at', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('', '"', ',"', '\\'), (string, behind) => {
        const json = JSON.stringify(string)
        const b = Buffer.from(json + behind)
        const end = Buffer.byteLength(json)
        expect(stringEnd(b, 0)).to.equal(end)
        expect(stringEnd(b, 0, end - 1)).to.equal(NOWHERE)
        expect(plainStringEnd(b, 0)).to.equal(json.includes('\\') ? NOWHERE : end)
        expect(asciiStringEnd(b, 0)).to.equal(json.includes('\\') || /[^\u0000-\u007f]/.test(json) ? NOWHERE : end)
      }),
      SETTINGS,
    )
  })

  it('may be copied where JSON.stringify would write them so', () => {
    const spelled = fc
      .tuple(
        text,
        fc.constantFrom<(json: string) => string>(
          json => json,
          json => json.replace('a', '\\u0061'),
          json => json.replace('\\n', '\\u000a'),
          json => json.replace('\\"', '\\u0022'),
          json => json.replace('\\u0000', '\\u0001'),
        ),
      )
      .map(([string, spell]) => spell(JSON.stringify(string.toWellFormed())))
      .filter(json => parsed(json) !== undefined)
    fc.assert(
      fc.property(spelled, json => {
        const b = Buffer.concat([Buffer.from(json), Buffer.alloc(200)])
        const strings = new StringScanner(b, 100)
        const end = strings.end(1)
        const string = JSON.parse(json) as string
        const isCommon = JSON.stringify(string) === json && !string.includes('\u0000')
        expect(end).to.equal(isCommon ? Buffer.byteLength(json) - 1 : NOWHERE)
        if (end === NOWHERE) return
        expect(strings.surplus).to.equal(Buffer.byteLength(json) - json.length)
        const from = Buffer.byteLength(json)
        expect(b.toString('utf8', from, strings.writeUnescaped(1, end, from))).to.equal(string)
      }),
      SETTINGS,
    )
  })
})

describe('numbers of JSON', () => {
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: -99_999, max: 99_999 }).map(n => n / 1000),
    fc.nat().map(n => n / 2 ** 21),
  )

  it('are exactly those of JSON.parse', () => {
    fc.assert(
      fc.property(number, given => {
        const json = JSON.stringify(given)
        const { position, value: read, isWhole } = scan(json)
        expect(position).to.equal(json.length)
        expect(isWhole).to.equal(/^-?\d+$/.test(json))
        if (!Number.isNaN(read)) expect(read === 0 ? 0 : read).to.equal(JSON.parse(json) === 0 ? 0 : JSON.parse(json))
        expect(integerEnd(Buffer.from(`${json} `), 0, 30)).to.equal(integerPart(json))
      }),
      { ...SETTINGS, numRuns: rounds(2_000) },
    )
  })

  it('of sixteen digits are read where a double holds them', () => {
    expect(scan('524.3039585119113').value).to.equal(524.3039585119113)
    expect(scan('9007199254740991').value).to.equal(9007199254740991)
    for (const json of ['9007199254740993', '90071992547409.93', '0.00000000000000000000001']) expect(scan(json).value).to.be.NaN
  })

  it('with a fraction are plain only where String writes them so, however many digits they have', () => {
    const plain = (text: string) => plainDoubleEnd(Buffer.from(`${text}}`), 0) === text.length
    const double = fc
      .tuple(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.integer({ min: -7, max: 19 }))
      .map(([fraction, exponent]) => fraction * 10 ** exponent)
    fc.assert(
      fc.property(double, fc.boolean(), fc.integer({ min: 0, max: 9 }), (given, isNegative, digit) => {
        const text = String(isNegative ? -given : given)
        for (const near of [text, text.slice(0, -1) + digit, text + digit, text.slice(0, -1)])
          if (plain(near)) expect(String(Number(near))).to.equal(near)
      }),
      { ...SETTINGS, numRuns: rounds(5_000) },
    )
    for (const json of ['524.3039585119113', '165.29087322531268', '-897.1575324097648', '0.12345678901234568', '0.0000123456789012345'])
      expect(plain(json), json).to.equal(true)
    // Another of seventeen digits, and one of sixteen, stand for the same double.
    for (const json of ['165.29087322531267', '524.30395851191134', '1024.0000000000001', '12.0', '1e3', '0.00000012345'])
      expect(plain(json), json).to.equal(false)
  })

  for (const json of ['01', '-', '1.', '.5', '+1', '1e', '1e+', 'x']) {
    it(`are not ${json}`, () => {
      const { position } = scan(json)
      expect(position === NOWHERE || position < json.length).to.equal(true)
    })
  }
})

describe('words', () => {
  it('of lower-case hexadecimal digits are told from all others', () => {
    const words = new DataView(new ArrayBuffer(4))
    for (let place = 0; place < 4; place++)
      for (let byte = 0; byte < 256; byte++) {
        for (let i = 0; i < 4; i++) words.setUint8(i, '09af'.charCodeAt(i))
        words.setUint8(place, byte)
        expect(areLowerHex(words.getInt32(0, true)), `${byte} at ${place}`).to.equal(/[0-9a-f]/.test(String.fromCharCode(byte)))
      }
  })
})

describe('tokens that are expected together', () => {
  it('are found with and without white space between them', () => {
    const expected = phrase('{', '"key"', ':', '"')
    for (const json of ['{"key":"x', '{ "key" : "x', ' {\n"key":\t"x'])
      expect(phraseEnd(Buffer.from(json), 0, expected)).to.equal(json.length - 1)
    for (const json of ['{"kez":"x', '{"key" "x', '{"key":', '']) expect(phraseEnd(Buffer.from(json), 0, expected)).to.equal(NOWHERE)
  })
})

function scan(json: string) {
  const out = { position: 0, value: 0, isWhole: true }
  scanNumber(Buffer.from(`${json} `), 0, out)
  return out
}

/** Where the digits before the point or the exponent end; -0 is no integer. */
function integerPart(json: string): number {
  return json.startsWith('-0') ? NOWHERE : /^-?\d+/.exec(json)![0].length
}

/** Objects put integer names first; members of a text stand in its order. */
function byPlace(members: readonly unknown[][]) {
  const place = new Map(members.map(([name], index) => [name, index]))
  return ([a]: readonly unknown[], [b]: readonly unknown[]) => place.get(a)! - place.get(b)!
}
