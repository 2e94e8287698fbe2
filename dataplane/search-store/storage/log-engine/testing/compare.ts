import { expect } from 'chai'
import type { IndexStorage, Segment, WriteOutcome } from '../../index-storage.ts'
import type { Oracle } from './oracle.ts'

/** Outcomes without the wording of the reason. */
export function shapeOf(outcome: WriteOutcome): unknown {
  return 'error' in outcome ? { type: outcome.error.type, status: outcome.error.status } : outcome
}

/** Holds everything that an index answers against the oracle. */
export function expectSame(index: IndexStorage, oracle: Oracle): void {
  expectDocuments(index, oracle)
  expectPostings(index, oracle)
  expectColumns(index, oracle)
  expectCounts(index, oracle)
}

function* liveDocuments(index: IndexStorage): Generator<{ segment: Segment; doc: number; id: string }, void, undefined> {
  for (const segment of index.segments())
    for (let doc = 0; doc < segment.size; doc++) if (segment.isLive(doc)) yield { segment, doc, id: segment.id(doc) }
}

const parsed = (source: Uint8Array): unknown => JSON.parse(Buffer.from(source).toString())

function expectDocuments(index: IndexStorage, oracle: Oracle): void {
  const found = [...liveDocuments(index)].map(({ segment, doc, id }) => ({
    id,
    seqNo: segment.seqNo(doc),
    version: segment.version(doc),
    source: parsed(segment.source(doc)),
  }))
  const wanted = [...oracle.documents.values()].map(each => ({ ...each, source: parsed(each.source) }))
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  expect(found.sort(byId)).to.deep.equal(wanted.sort(byId))
  expect(index.docCount).to.equal(wanted.length)
  for (const each of wanted) {
    const got = index.get(each.id)
    expect(got === undefined ? undefined : { ...got, source: parsed(got.source) }).to.deep.equal(each)
  }
  expect(index.get('never written')).to.equal(undefined)
}

function expectPostings(index: IndexStorage, oracle: Oracle): void {
  for (const [field, term] of [...oracle.terms(), ['message', 'absent'], ['service', 'absent'], ['no.such.field', 'x']] as [
    string,
    string,
  ][]) {
    const ids = index.segments().flatMap(segment => {
      const docs = segment.postings(field, term)
      expect(docs, `${field}:${term}`).to.not.equal(undefined)
      expect(
        docs!.every((doc, k) => k === 0 || docs![k - 1]! < doc),
        'ascending',
      ).to.equal(true)
      return [...docs!].filter(doc => segment.isLive(doc)).map(doc => segment.id(doc))
    })
    expect(ids.sort(), `${field}:${term}`).to.deep.equal(oracle.idsWith(field, term))
  }
}

function expectColumns(index: IndexStorage, oracle: Oracle): void {
  for (const path of oracle.mapping.paths()) {
    const numbers = oracle.numbers(path)
    for (const { segment, doc, id } of liveDocuments(index)) {
      const column = segment.column(path)
      if (column === undefined) continue
      if (column.kind === 'number') {
        const [wanted = Number.NaN, ...more] = numbers.get(id)!
        expect(more, path).to.deep.equal([])
        expect(column.values[doc], path).to.deep.equal(wanted)
      } else {
        const value = column.dictionary[column.codes[doc]!]!
        if (column.codes[doc] === 0) expect(value).to.equal('')
        else expect(oracle.idsWith(path, value), `${path}=${value}`).to.include(id)
      }
    }
  }
  for (const segment of index.segments()) expect(segment.column('level')?.kind).to.equal('keyword')
}

function expectCounts(index: IndexStorage, oracle: Oracle): void {
  const all = index.segments().map(segment => segment.counts())
  if (all.includes(undefined)) return
  const found = new Map<string, number>()
  for (const { minuteMs, tenant, service, level, count } of all.flatMap(rows => rows!)) {
    const key = JSON.stringify([minuteMs, tenant, service, level])
    found.set(key, (found.get(key) ?? 0) + count)
  }
  const wanted = new Map<string, number>()
  for (const { source } of oracle.documents.values()) {
    const { timestamp, tenant_id = '', service = '', level = '' } = JSON.parse(Buffer.from(source).toString()) as Record<string, string>
    const key = JSON.stringify([Math.floor(Date.parse(timestamp!) / 60_000) * 60_000, tenant_id, service, level])
    wanted.set(key, (wanted.get(key) ?? 0) + 1)
  }
  expect([...found].sort()).to.deep.equal([...wanted].sort())
}
