/** The log of the index over a tail, from the store that writes it to the copy that reads it. */
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Column, Segment, WriteOp } from '../../index-storage.ts'
import { type IndexFiles, nodeFiles } from '../format/index-files.ts'
import { createLogCopy, type LogCopy } from '../log-copy.ts'
import type { LogIndex } from '../log-index.ts'
import { createByteCache } from '../sealed/byte-cache.ts'
import { createLogDocuments, type LogDocument } from '../testing/log-documents.ts'
import { LOG_MAPPING } from '../testing/log-mapping.ts'
import { folderOf, openIndex, withDirectory } from '../testing/temporary-index.ts'
import type { TailCopy } from './tail-copy.ts'

const FIELDS = [
  ...['timestamp', 'nanos', 'severity_number', 'anomaly_score', 'is_anomaly', 'duration_ms', 'service', 'level', 'tenant_id', 'host'],
  ...['log_id', 'trace_id', 'user.id', 'k8s.pod.name', 'attributes', 'attributes.host.name', 'attributes.service.version', 'new.field'],
]
const WORDS = ['request', 'completed', 'java.net.SocketTimeoutException', 'HikariPool', '503', 'absent']

const write = (index: LogIndex, documents: readonly LogDocument[]) =>
  index.apply(documents.map(({ id, source }): WriteOp => ({ action: 'index', id, source })))

const documentsOf = (next: () => LogDocument, count: number) => Array.from({ length: count }, next)

async function lookAt(index: LogIndex, copy: LogCopy, feed = index.feed()): Promise<readonly Segment[]> {
  for (const { head, bytes } of feed.next()) copy.apply({ head, bytes: Buffer.concat(bytes) })
  const opened = await copy.snapshot().open(async () => undefined)
  return opened.segments()
}

const newCopy = () => createLogCopy(createByteCache(4 << 20))

const valuesOf = (column: Column | undefined) =>
  column?.kind === 'keyword' ? Array.from(column.codes, code => column.dictionary[code]) : column && [...column.values]

function expectSame(copied: Segment, own: Segment): void {
  expect(copied.size).to.equal(own.size)
  expect([copied.minTimestampMs, copied.maxTimestampMs]).to.deep.equal([own.minTimestampMs, own.maxTimestampMs])
  for (const field of FIELDS) {
    const values = valuesOf(own.column(field))
    expect(valuesOf(copied.column(field)), field).to.deep.equal(values)
    for (const value of new Set((values ?? []).slice(0, 500).map(String)))
      expect(copied.postings(field, value), `${field}:${value}`).to.deep.equal(own.postings(field, value))
  }
  for (const word of WORDS) {
    expect(copied.postings('message', word), word).to.deep.equal(own.postings('message', word))
    for (const next of WORDS)
      expect(copied.mayHoldPair!('message', word, next), `${word} ${next}`).to.equal(own.mayHoldPair!('message', word, next))
  }
  for (const doc of [0, own.size - 1]) {
    expect(copied.id(doc)).to.equal(own.id(doc))
    expect([copied.seqNo(doc), copied.version(doc)]).to.deep.equal([own.seqNo(doc), own.version(doc)])
    expect(Buffer.from(copied.source(doc))).to.deep.equal(Buffer.from(own.source(doc)))
  }
}

const filesIn = (dir: string) => readdirSync(folderOf(dir)).filter(name => name.endsWith('.idx'))

/** A disk that takes no more than so many bytes of logs. */
function withRoomForLogs(room: number): IndexFiles {
  const logs = new Set<number>()
  let left = room
  return {
    ...nodeFiles,
    open(path) {
      const fd = nodeFiles.open(path)
      if (path.endsWith('.idx')) logs.add(fd)
      else logs.delete(fd)
      return fd
    },
    async write(fd, bytes, position) {
      if (logs.has(fd)) {
        left -= bytes.length
        if (left < 0) throw Object.assign(new Error('ENOSPC: simulated'), { code: 'ENOSPC', syscall: 'write' })
      }
      await nodeFiles.write(fd, bytes, position)
    },
  }
}

describe('the log of the index over a tail', () => {
  it('is followed without a query, words too once they were asked for, and through a seal', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const copy = newCopy()
      const feed = index.feed()
      const next = createLogDocuments(3, Date.UTC(2026, 10, 21))
      const tell = () => {
        for (const { head, bytes } of feed.next()) copy.apply({ head, bytes: Buffer.concat(bytes) })
      }
      let steps = 0
      const step = async () => void steps++
      await write(index, documentsOf(next, 300))
      tell()
      await copy.follow(step)
      expect(copy.memoryBytes, 'of a tail that nobody has asked for').to.equal(0)
      const [asked] = await lookAt(index, copy, feed)
      asked!.postings('message', 'request')
      for (const round of ['of the same tail', 'of the next one']) {
        if (round === 'of the next one') await index.seal()
        await write(index, documentsOf(next, 300))
        tell()
        await copy.follow(step)
        const before = steps
        const segments = (await copy.snapshot().open(step)).segments()
        expect(steps, `steps of a query ${round}`).to.equal(before)
        const pieces = [...(segments.at(-1)!.preparePostings?.('message') ?? [])].length
        expect(pieces, `words ${round}`).to.equal(0)
        const own = index.segments()
        for (const [at, segment] of segments.entries()) expectSame(segment, own[at]!)
      }
      await index.close()
    }))

  it('is told apart once its tail is sealed: the copy of the tail before gives its memory back, and the next one is whole', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const retired: TailCopy[] = []
      const copy = createLogCopy(createByteCache(4 << 20), tail => void retired.push(tail))
      const feed = index.feed()
      const next = createLogDocuments(3, Date.UTC(2026, 10, 21))
      await write(index, documentsOf(next, 3_000))
      const [asked] = await lookAt(index, copy, feed)
      asked!.postings('message', 'request')
      expect(retired).to.deep.equal([])
      await index.seal()
      for (const { head, bytes } of feed.next()) copy.apply({ head, bytes: Buffer.concat(bytes) })
      expect(retired, 'before anyone asks for the next tail').to.have.length(1)
      const { terms } = retired[0]!.tail.index
      expect(terms.sizeBytes).to.be.above(100_000)
      retired[0]!.release()
      expect(terms.sizeBytes).to.be.below(2_000)
      await copy.follow(async () => undefined)
      await write(index, documentsOf(next, 300))
      const segments = await lookAt(index, copy, feed)
      const own = index.segments()
      for (const [at, segment] of segments.entries()) expectSame(segment, own[at]!)
      copy.unload()
      expect(retired).to.have.length(2)
      await index.close()
    }))

  it('gives a copy all of the index, commit by commit, and no document is walked', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(3, Date.UTC(2026, 10, 21))
      const feed = index.feed()
      const copy = newCopy()
      for (const count of [1, 100, 700]) {
        await write(index, documentsOf(next, count))
        const [copied] = await lookAt(index, copy, feed)
        expectSame(copied!, index.segments()[0]!)
      }
      // A frame that is damaged can be walked by nobody.
      const segment = openSync(join(dir, 'index', '00000001.seg'), 'r+')
      writeSync(segment, Buffer.alloc(4), 0, 4, 0)
      closeSync(segment)
      const [copied] = await lookAt(index, newCopy())
      expect(copied!.postings('message', 'request')).to.deep.equal(index.segments()[0]!.postings('message', 'request'))
      await index.destroy()
    }))

  it('gives copies of several indices their own, though they read commits by turns', () =>
    withDirectory(async first =>
      withDirectory(async second => {
        const indices = [await openIndex(first, LOG_MAPPING), await openIndex(second, LOG_MAPPING)]
        const nexts = [createLogDocuments(3, Date.UTC(2026, 10, 21)), createLogDocuments(4, Date.UTC(2026, 10, 22))]
        const copies = indices.map(index => ({ index, copy: newCopy(), feed: index.feed() }))
        for (const count of [900, 1_500])
          for (const [at, index] of indices.entries()) await write(index, documentsOf(nexts[at]!, count + at))
        const opened = copies.map(async ({ copy, feed }) => {
          for (const { head, bytes } of feed.next()) copy.apply({ head, bytes: Buffer.concat(bytes) })
          return (await copy.snapshot().open(() => setImmediate())).segments()
        })
        const segments = await Promise.all(opened)
        const words = segments.map(([segment]) => segment!.preparePostings!('message'))
        for (let left = words; left.length > 0; ) left = left.filter(each => each.next().done !== true)
        for (const [at, { index }] of copies.entries()) expectSame(segments[at]![0]!, index.segments()[0]!)
        for (const index of indices) await index.destroy()
      }),
    ))

  it('counts as disk of the index until its tail is sealed', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      await write(index, documentsOf(createLogDocuments(3, Date.UTC(2026, 10, 21)), 700))
      const bytesOf = (ending: string) =>
        readdirSync(folderOf(dir))
          .filter(name => name.endsWith(ending))
          .reduce((sum, name) => sum + statSync(join(dir, 'index', name)).size, 0)
      expect(bytesOf('.idx')).to.be.above(0)
      expect(index.sizeBytes).to.equal(bytesOf('.idx') + bytesOf('.seg'))
      await index.seal()
      expect(index.sizeBytes).to.equal(bytesOf('.seg'))
      await index.destroy()
    }))

  it('brings words in when a query asks for them, piece by piece, and not for a field with a column', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(3, Date.UTC(2026, 10, 21))
      const copy = newCopy()
      await write(index, documentsOf(next, 1500))
      const [copied] = await lookAt(index, copy)
      const before = copy.memoryBytes
      expect([...copied!.preparePostings!('service')]).to.have.length(0)
      expect(copied!.postings('service', 'cart')).to.deep.equal(index.segments()[0]!.postings('service', 'cart'))
      expect(copy.memoryBytes).to.equal(before)
      // Two queries, each in its turns.
      const [one, other] = [copied!.preparePostings!('message'), copied!.preparePostings!('message')]
      let pieces = 0
      while (one.next().done !== true) {
        other.next()
        pieces++
      }
      expect(pieces).to.be.above(2)
      expect(copy.memoryBytes).to.be.above(before)
      expectSame(copied!, index.segments()[0]!)
      await index.close()
    }))

  it('knows fields with too many values for a column, in this tail and in the next', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(5, Date.UTC(2026, 10, 21))
      const feed = index.feed()
      const copy = newCopy()
      for (let tail = 0; tail < 2; tail++) {
        for (let batch = 0; batch < 5; batch++) {
          await write(index, documentsOf(next, 1000))
          const segments = await lookAt(index, copy, feed)
          expectSame(segments.at(-1)!, index.segments().at(-1)!)
        }
        expect(index.segments().at(-1)!.column('log_id')).to.equal(undefined)
        const segments = await lookAt(index, newCopy())
        expectSame(segments.at(-1)!, index.segments().at(-1)!)
        await index.seal()
      }
      await index.close()
    })).timeout(30_000)

  it('knows leaves of flat objects that queries have named in numbers before', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(7, Date.UTC(2026, 10, 21))
      const feed = index.feed()
      const copy = newCopy()
      await write(index, [{ id: 'first', source: Buffer.from('{"service":"shop","message":"no attributes"}') }])
      const [first] = await lookAt(index, copy, feed)
      for (let k = 0; k < 9000; k++) first!.postings(`attributes.made.up.${k}`, 'x')
      first!.postings('attributes.host.name', 'node-01')
      await write(index, documentsOf(next, 200))
      const [copied] = await lookAt(index, copy, feed)
      expect(copied!.postings('attributes.host.name', 'node-01')).to.have.length.above(0)
      expectSame(copied!, index.segments()[0]!)
      await index.close()
    }))

  for (const room of [0, 20_000, 80_000])
    it(`fails no write where the disk has room for ${room} bytes of it: the rest is walked`, () =>
      withDirectory(async dir => {
        const index = await openIndex(dir, LOG_MAPPING, withRoomForLogs(room))
        const next = createLogDocuments(9, Date.UTC(2026, 10, 21))
        const feed = index.feed()
        const copy = newCopy()
        for (let batch = 0; batch < 6; batch++) {
          const outcomes = await write(index, documentsOf(next, 100))
          expect(outcomes.every(outcome => 'result' in outcome)).to.equal(true)
          const [copied] = await lookAt(index, copy, feed)
          expectSame(copied!, index.segments()[0]!)
        }
        const [copied] = await lookAt(index, newCopy())
        expectSame(copied!, index.segments()[0]!)
        await index.close()
      }))

  it('holds nothing of a commit that failed', () =>
    withDirectory(async dir => {
      let isFull = false
      const files: IndexFiles = {
        ...nodeFiles,
        async sync(fd) {
          if (isFull) throw Object.assign(new Error('EIO: simulated'), { code: 'EIO', syscall: 'fsync' })
          await nodeFiles.sync(fd)
        },
      }
      const index = await openIndex(dir, LOG_MAPPING, files)
      const next = createLogDocuments(11, Date.UTC(2026, 10, 21))
      const feed = index.feed()
      const copy = newCopy()
      for (let batch = 0; batch < 6; batch++) {
        isFull = batch === 2
        const documents = isFull ? [{ id: 'lost', source: Buffer.from('{"new":{"field":"a"},"service":"lost"}') }] : documentsOf(next, 50)
        await write(index, documents)
        const [copied] = await lookAt(index, copy, feed)
        expectSame(copied!, index.segments()[0]!)
      }
      await index.close()
    }))

  it('goes when the segment is sealed, when the index is closed, and at the next start after a crash', () =>
    withDirectory(async dir => {
      const index = await openIndex(dir, LOG_MAPPING)
      const next = createLogDocuments(13, Date.UTC(2026, 10, 21))
      await write(index, documentsOf(next, 10))
      expect(filesIn(dir)).to.deep.equal(['00000001.idx'])
      await index.seal()
      expect(filesIn(dir)).to.deep.equal([])
      await write(index, documentsOf(next, 10))
      expect(filesIn(dir)).to.deep.equal(['00000002.idx'])
      await index.close()
      expect(filesIn(dir)).to.deep.equal([])
      closeSync(openSync(join(dir, 'index', '00000002.idx'), 'w'))
      const again = await openIndex(dir, LOG_MAPPING)
      expect(existsSync(join(dir, 'index', '00000002.idx'))).to.equal(false)
      await write(again, documentsOf(next, 10))
      const segments = await lookAt(again, newCopy())
      expectSame(segments.at(-1)!, again.segments().at(-1)!)
      await again.close()
    }))
})
