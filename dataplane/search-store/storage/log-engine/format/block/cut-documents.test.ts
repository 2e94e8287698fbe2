import { getHeapStatistics } from 'node:v8'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { collectGarbage } from '../../../../../memory/give-back-garbage.ts'
import { rounds } from '../../../../../testing/rounds.ts'
import { memberPick } from '../../../../query/show/member-pick.ts'
import { encodeBlock } from '../../testing/encode-block.ts'
import { createLogDocuments } from '../../testing/log-documents.ts'
import { LOG_MAPPING } from '../../testing/log-mapping.ts'
import { openIndex, withDirectory } from '../../testing/temporary-index.ts'
import { BitWriter, bitsAt, bitsOf } from '../bytes/bit-numbers.ts'
import { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'
import { idKeyOf } from '../document-id.ts'
import { DocumentRows } from '../document-rows.ts'
import type { StagedDocument } from '../staged-document.ts'
import { BLOCK_DOCS, type BlockRef, blockBytes, encodeRows, packBlock, readBlockRef, readDocuments, readMessages } from './block.ts'

const DOCS = BLOCK_DOCS

const fromText = (id: string, text: string): StagedDocument => {
  const source = Buffer.from(text)
  const start = source.indexOf('"message":"') + 11
  const end = start < 11 ? -1 : source.indexOf('"', start)
  return { id: idKeyOf(id), source, ...(end > 0 && { message: { start, end } }) }
}

const PICKED = [['id', 'log_id', 'b', 'trace_id'], ['message', 'a'], ['odd'], ['n', 'b.c', 'logger.name', 'service', 'at'], []]

/** A document that is not told has to be read; what is told has every member of these names. */
function checkPick(picked: Buffer | undefined, source: Uint8Array, names: readonly string[]): void {
  if (picked === undefined) return
  const text = picked.toString()
  const isNear = (key: string) => names.some(name => `${name}.`.startsWith(`${key}.`) || `${key}.`.startsWith(`${name}.`))
  const members = Object.entries(JSON.parse(Buffer.from(source).toString()) as object).filter(([key]) => isNear(key))
  expect(JSON.parse(text), text).to.deep.equal(Object.fromEntries(members))
}

/** Writes a block, reads it again, and compares each document; returns what the block says of itself. */
function roundTrip(documents: readonly StagedDocument[]): BlockRef {
  const block = encodeBlock(documents, 0)
  const bytes = Buffer.concat(block.parts)
  const ref = readBlockRef(bytes, 0, 0, 0)
  expect(ref).to.deep.equal(block.ref)
  expect(bytes.length).to.equal(blockBytes(ref))
  const readAt = (length: number, position: number) => bytes.subarray(position, position + length)
  const stored = { documents: readDocuments(ref, readAt), messages: readMessages(ref, readAt) }
  for (const { documents: read, messages } of [block.content, stored]) {
    for (const [k, { source, message }] of documents.entries()) {
      if (read.whole(k, messages).compare(source) !== 0) expect(read.whole(k, messages).toString()).to.equal(Buffer.from(source).toString())
      const bare = Buffer.concat(message === undefined ? [source] : [source.subarray(0, message.start), source.subarray(message.end)])
      const isBare = read.bare(k).compare(bare) === 0 || read.bare(k).compare(source) === 0
      expect(isBare, read.bare(k).toString()).to.equal(true)
      for (const names of PICKED) checkPick(read.pick(k, memberPick(names)), source, names)
    }
  }
  return ref
}

/** Documents of a block as the pipeline writes them. */
function documentsOf(seed: number): readonly StagedDocument[] {
  const next = createLogDocuments(seed, Date.parse('2026-11-26T10:55:00Z'))
  return Array.from({ length: DOCS }, () => {
    const source = Buffer.from(next().source)
    const text = source.toString('latin1')
    const start = text.indexOf('"message":"') + 11
    const message = { start, end: start + /(?<!\\)"/.exec(text.slice(start))!.index }
    return { id: idKeyOf(/"log_id":"([^"]+)"/.exec(text)![1]!), source, message }
  })
}

/** Where documents are cut is found anew after 128 blocks, in the next one or 16 later. Before that blocks may be small: what counts is how many. */
function makeKnown(documents: readonly StagedDocument[]): void {
  for (let block = 0; block < 120; block++) encodeBlock(documents.slice(0, 16), 0)
  for (let block = 0; block < 30; block++) encodeBlock(documents, 0)
}

/** The same once the documents are known. */
function roundTripKnown(documents: readonly StagedDocument[]): BlockRef {
  makeKnown(documents)
  return roundTrip(documents)
}

const uuidOf = (k: number) => `00000000-0000-4000-8000-${String(k).padStart(12, '0')}`
const hexOf = (k: number, digits: number) => Buffer.from(String(k * 7919).padStart(digits / 2, 'x')).toString('hex')

describe('documents of a block with values cut out', () => {
  it('take little more memory than a cache counts, however many blocks are read', () => {
    const documents = documentsOf(3)
    makeKnown(documents)
    const bytes = Buffer.concat(encodeBlock(documents, 0).parts)
    const ref = readBlockRef(bytes, 0, 0, 0)
    const pick = memberPick(['service', 'log_id', 'trace_id', 'level'])
    const readAll = () => {
      const read = readDocuments(ref, (length, position) => bytes.subarray(position, position + length))
      for (let k = 0; k < DOCS; k++) expect(read.pick(k, pick)).not.to.equal(undefined)
      return read
    }
    readAll()
    collectGarbage()
    const before = getHeapStatistics().used_heap_size
    const blocks = Array.from({ length: 600 }, readAll)
    collectGarbage()
    expect(getHeapStatistics().used_heap_size - before).to.be.below(5_000_000)
    for (const each of blocks) expect(each.pick(0, pick)).to.deep.equal(blocks[0]!.pick(0, pick))
  })

  it('come back byte for byte, in less space than as text', () => {
    const next = createLogDocuments(3, Date.parse('2026-11-26T10:55:00Z'))
    const documents = Array.from({ length: DOCS }, () => {
      const { source } = next()
      const text = source.toString()
      return fromText(/"log_id":"([^"]+)"/.exec(text)![1]!, text)
    })
    const ref = roundTripKnown(documents)
    expect(ref.areCut).to.equal(true)
    expect(ref.dataBytes / DOCS).to.be.lessThan(60)
  })

  it('show some of their members without the others', () => {
    const documents = documentsOf(5)
    makeKnown(documents)
    const { documents: read } = encodeBlock(documents, 0).content
    const pick = memberPick(['service', 'log_id', 'trace_id', 'level'])
    for (const [k, { source }] of documents.entries()) {
      const { log_id, level, service, trace_id } = JSON.parse(Buffer.from(source).toString())
      expect(JSON.parse(read.pick(k, pick)!.toString())).to.deep.equal(JSON.parse(JSON.stringify({ log_id, level, service, trace_id })))
      expect(read.pick(k, memberPick(['message', 'level']))).to.equal(undefined)
    }
  })

  it('come back where more values differ than there are cuts', () => {
    const documents = Array.from({ length: DOCS }, (_, k) => {
      const numbers = Array.from({ length: 40 }, (_none, n) => (k % (n + 7) === 0 ? '' : `"number_${n}":${k * 7919 + n},`))
      return fromText(uuidOf(k), `{"id":"${uuidOf(k)}",${numbers.join('')}"message":"request ${k} was answered"}`)
    })
    const ref = roundTripKnown(documents)
    expect(ref.areCut).to.equal(true)
    // A value that is cut out takes three bytes.
    expect(ref.dataBytes / DOCS).to.be.lessThan(25 * 4 + 17 * 6)
  })

  it('stand in one memory beside others that end as they begin', () => {
    const texts = Array.from({ length: DOCS }, (_, k) => `{"id":"${uuidOf(k)}","number":${k * 7919}}`)
    const memory = Buffer.from(texts.join(''))
    const rows = new DocumentRows()
    let start = 0
    for (const [k, text] of texts.entries()) {
      rows.reserveId(16)
      rows.ids.set(idKeyOf(uuidOf(k)).bytes, rows.idEnd)
      rows.add(16, true, memory, start, start + text.length, -1, -1)
      start += text.length
    }
    for (let block = 0; block < 20; block++) packBlock(rows, 0, DOCS)
    const apart = encodeRows(rows, 50, 150, 0)
    expect(apart.ref.areCut).to.equal(true)
    for (let k = 0; k < 100; k++) expect(apart.content.documents.whole(k, undefined).toString()).to.equal(texts[50 + k])
  })

  const odd: readonly [string, (k: number) => string][] = [
    ['times of all lengths', k => `"${new Date(1.7e12 + 977 * k).toISOString().slice(0, -1)}${'123456'.slice(0, k % 7)}Z"`],
    ['times without a fraction', k => `"2026-11-26T10:55:${String(k % 60).padStart(2, '0')}Z"`],
    ['times that are none', k => `"2026-02-3${k % 10}T10:55:${String(k % 75).padStart(2, '0')}.5${k}Z"`],
    ['times before 1970', k => `"19${String((k % 60) + 10)}-11-26T10:55:00.00${k % 10}Z"`],
    ['leap seconds', k => `"2016-12-31T23:59:60.${String(k).padStart(3, '0')}Z"`],
    ['numbers of all kinds', k => ['0', '-0', '-17.050', '1e5', '4294967295', '4294967296', `${k}.${'9'.repeat(k % 33)}1`, '0.1'][k % 8]!],
    ['numbers in quotes', k => `"${k % 3 === 0 ? '00' : ''}${k * 7919}"`],
    ['whole numbers', k => String((k * 12_345_678) % 4_294_967_296)],
    ['hex digits', k => `"${k % 20 === 0 ? hexOf(k, 16).toUpperCase() : hexOf(k, 16)}"`],
    ['UUIDs of others', k => `"${uuidOf(k + (k % 5 === 0 ? 1 : 7_000))}"`],
    ['ids', k => `"${uuidOf(k + (k % 9 === 0 ? 1 : 0))}"`],
    ['lists and objects', k => (k % 2 === 0 ? `[${k},"]"]` : `{"id":${k},"k":"}"}`)],
    ['texts with quotes', k => JSON.stringify(`say "x":${k}, \\ é \u0001 ${'"odd":'.repeat(k % 3)}`)],
  ]
  for (const [what, oddOf] of odd)
    it(`may hold ${what}`, () => {
      const text = (k: number) =>
        `{"at":"${new Date(1.7e12 + k).toISOString()}","odd":${oddOf(k)}${k % 7 === 0 ? '' : `,"n":${k * 31}`},"message":"m ${k}","id":"${uuidOf(k)}"}`
      expect(roundTripKnown(Array.from({ length: DOCS }, (_, k) => fromText(uuidOf(k), text(k)))).areCut).to.equal(true)
    })

  it('may tell their time once more in other members, or another', () => {
    const text = (k: number) => {
      const nanos = (k * 7919) % 1_000_000
      const ms = Date.parse('2026-11-26T10:55:59.900Z') + k
      const time = `${new Date(ms).toISOString().slice(0, -1)}${String(nanos).padStart(6, '0')}Z`
      const epoch = `${ms}${String(k % 10 === 0 ? 0 : nanos).padStart(6, '0')}`
      return `{"timestamp":"${time}","nanos":${k % 11 === 0 ? 5 : nanos},"time_unix_nano":"${epoch}","log_id":"${uuidOf(k)}"}`
    }
    const { dataBytes } = roundTripKnown(Array.from({ length: DOCS }, (_, k) => fromText(uuidOf(k), text(k))))
    expect(dataBytes / DOCS).to.be.lessThan(12)
  })

  const member = fc.constantFrom('a', 'b', 'message', 'id', 'when', 'b.c', '"', 'é')
  const value = fc.oneof(
    fc.json({ maxDepth: 2 }),
    fc.nat().map(String),
    fc.date({ noInvalidDate: true }).map(date => JSON.stringify(date)),
    fc.uuid().map(uuid => JSON.stringify(uuid)),
    fc.double().map(number => JSON.stringify(number)),
  )
  const json = fc
    .array(fc.tuple(member, value), { maxLength: 8 })
    .map(members => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`)

  it('may be any JSON, in any mix', () => {
    const many = fc.array(fc.tuple(fc.uuid(), json), { minLength: 1, maxLength: DOCS })
    fc.assert(
      fc.property(many, fc.array(json, { minLength: 1, maxLength: 3 }), fc.nat(3), (documents, common, share) => {
        roundTrip(documents.map(([id, text], k) => fromText(id, k % 4 < share ? common[k % common.length]! : text)))
      }),
      { numRuns: rounds(60), seed: 11 },
    )
  })

  it('may change from block to block', () => {
    const kinds = [
      (k: number) => `{"log_id":"${uuidOf(k)}","took":${k}.25,"service":"a"}`,
      (k: number) => `{"service":"b","trace":"${hexOf(k, 32)}","message":"x ${k}"}`,
      (k: number) => `{"x":true,"y":${k % 2}}`,
    ]
    for (let block = 0; block < 40; block++) {
      const textOf = kinds[block % 7 === 0 ? 2 : (block >> 2) % 2]!
      roundTrip(Array.from({ length: DOCS }, (_, k) => fromText(uuidOf(k), textOf(k))))
    }
  })

  it('are found, replaced, sealed, merged and replayed as any others', () =>
    withDirectory(async dir => {
      const expected = new Map<string, string>()
      let index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(9, Date.parse('2026-11-26T10:55:00Z'))
      const write = async (sources: readonly Buffer[]) => {
        const ops = sources.map(source => ({ action: 'index', id: /"log_id":"([^"]+)"/.exec(source.toString())![1]!, source }) as const)
        for (const { id, source } of ops) expected.set(id, source.toString())
        await index.apply(ops)
      }
      const more = (count: number) => Array.from({ length: count }, () => Buffer.from(next().source))
      const check = () => {
        const found = new Map<string, string>()
        for (const segment of index.segments()) {
          for (let doc = 0; doc < segment.size; doc++)
            if (segment.isLive(doc)) found.set(segment.id(doc), Buffer.from(segment.source(doc)).toString())
          const [doc] = segment.docsOf!([...expected.keys()].slice(0, 1))
          if (doc !== undefined) expect(segment.id(doc)).to.equal([...expected.keys()][0])
        }
        expect(found.size).to.equal(expected.size)
        for (const [id, source] of expected) {
          expect(found.get(id) === source, id).to.equal(true)
          expect(Buffer.from(index.get(id)!.source).toString() === source, id).to.equal(true)
        }
      }
      const first = more(150)
      await write(first)
      check()
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      check()
      await write(first.slice(0, 40).map(source => Buffer.from(source.toString().replace('"enriched":true', '"enriched":false'))))
      for (let round = 0; round < 9; round++) {
        await write(more(24))
        await index.seal()
      }
      check()
      await index.maintain()
      expect(index.segments().length).to.be.lessThan(5)
      check()
      await index.close()
      index = await openIndex(dir, LOG_MAPPING)
      check()
      await index.close()
    }))
})

describe('numbers in bits', () => {
  it('come back, whatever their widths', () => {
    const numbers = fc.array(fc.nat(0xffff_ffff).chain(value => fc.tuple(fc.constant(value), fc.integer({ min: bitsOf(value), max: 32 }))))
    fc.assert(
      fc.property(numbers, list => {
        const out = new ByteWriter()
        const bits = new BitWriter()
        bits.begin(out)
        for (const [value, width] of list) bits.add(value, width)
        bits.end()
        let place = 0
        for (const [value, width] of list) {
          expect(bitsAt(out.written(), place, width)).to.equal(value)
          place += width
        }
        expect(out.length).to.equal(Math.ceil(place / 8))
      }),
    )
  })

  it('of seven bits a byte come back', () => {
    const out = new ByteWriter()
    const values = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32, 2 ** 53 - 1]
    for (const value of values) out.number(value)
    const reader = new ByteReader(Buffer.from(out.written()))
    expect(values.map(() => reader.number())).to.deep.equal(values)
  })
})
