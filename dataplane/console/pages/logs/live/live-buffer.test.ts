import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readRecords } from '../records/log-record.ts'
import { MATCH_ALL } from '../search/to-query.ts'
import {
  addLive,
  clearLive,
  EMPTY_LIVE,
  LIVE_OVERLAP_MS,
  LIVE_PAGE_SIZE,
  type LiveBuffer,
  liveRequest,
  MAX_LIVE_RECORDS,
  showTail,
  windowOfTail,
} from './live-buffer.ts'

const NOW = Date.UTC(2026, 10, 22, 12)

function answerOf(times: readonly number[], { total = times.length, recent = 0 } = {}) {
  const hits = times.map(at => ({
    _id: `id-${at}`,
    _index: 'i',
    _source: { timestamp: new Date(NOW + at).toISOString() },
    sort: [NOW + at, 0, `id-${at}`],
  }))
  return { hits: { hits, total: { value: total } }, aggregations: { rate: { doc_count: recent } } }
}

function add(buffer: LiveBuffer, times: readonly number[], counts: { total?: number; recent?: number } = {}): LiveBuffer {
  const answer = answerOf(times, counts)
  return addLive(buffer, readRecords(answer), answer, liveRequest({ query: MATCH_ALL }, buffer, NOW))
}

const offsets = (buffer: LiveBuffer) => buffer.records.map(({ timestampMs }) => timestampMs - NOW)

describe('the live tail', () => {
  it('begins with the newest records, then asks from a little before the newest', () => {
    expect(liveRequest({ query: MATCH_ALL }, EMPTY_LIVE, NOW).fromMs).to.equal(NOW - 300_000)
    const buffer = add(EMPTY_LIVE, [-1_000, -2_000])
    expect(liveRequest({ query: MATCH_ALL }, buffer, NOW).fromMs).to.equal(NOW - 1_000 - LIVE_OVERLAP_MS)
  })

  it('shows each record once, also those that arrive late, in the order of time', () => {
    const buffer = add(add(EMPTY_LIVE, [-1_000, -2_000]), [0, -1_000, -1_500, -2_000])
    expect(offsets(buffer)).to.deep.equal([0, -1_000, -1_500, -2_000])
    expect(buffer).to.deep.include({ seen: 4, fresh: 2, skipped: 0 })
    expect(add(buffer, [0, -1_000])).to.deep.include({ records: buffer.records, fresh: 0 })
  })

  it('says how many a second come, and how many came too fast to be shown', () => {
    const full = Array.from({ length: LIVE_PAGE_SIZE }, (_, i) => LIVE_PAGE_SIZE - i)
    const buffer = add(add(EMPTY_LIVE, [0], { total: 9_000 }), full, { total: 2_000, recent: 250 })
    expect(buffer).to.deep.include({ rate: 25, skipped: 2_000 - 1 - LIVE_PAGE_SIZE })
  })

  it('counts what came too fast once, though each request looks back over the one before', () => {
    const page = (newest: number) => Array.from({ length: LIVE_PAGE_SIZE }, (_, i) => newest - i)
    // 1,000 a second: at the start 296,000 lie in the window.
    let buffer = add(EMPTY_LIVE, page(-4_000), { total: 296_000 })
    for (const newest of [-3_000, -2_000, -1_000]) buffer = add(buffer, page(newest), { total: LIVE_OVERLAP_MS + 1_000 })
    expect(buffer.seen).to.equal(4 * LIVE_PAGE_SIZE)
    expect(buffer.skipped).to.be.within(1_400, 1_600)
  })

  it('shows nothing that was cleared again, but what comes from then on', () => {
    const cleared = clearLive(add(EMPTY_LIVE, [5_000, -1_000, -2_000]), NOW)
    expect(cleared.records).to.deep.equal([])
    expect(liveRequest({ query: MATCH_ALL }, cleared, NOW + 1_000).fromMs).to.equal(NOW)
    const buffer = add(add(cleared, [6_000, 5_000]), [6_000, 5_000, 0])
    expect(offsets(buffer)).to.deep.equal([6_000, 0])
    expect(buffer).to.deep.include({ seen: 5, fresh: 1, skipped: 0 })
    const busy = clearLive(add(EMPTY_LIVE, [-1_000]), NOW)
    const full = Array.from({ length: LIVE_PAGE_SIZE }, (_, i) => LIVE_PAGE_SIZE - i)
    expect(add(busy, full, { total: LIVE_PAGE_SIZE }).skipped).to.equal(0)
  })

  it('holds still for a reader below its top, and says how many came since, until it begins anew', () => {
    const held = add(EMPTY_LIVE, [-1_000, -2_000])
    const buffer = add(add(held, [0]), [2_000, 1_000])
    expect(showTail(buffer, held)).to.deep.equal({ records: held.records, fresh: 0, newer: 3 })
    expect(showTail(buffer, undefined)).to.deep.equal({ records: buffer.records, fresh: 2, newer: 0 })
    expect(showTail(held, undefined).fresh).to.equal(0)
    expect(showTail(clearLive(buffer, NOW), held)).to.deep.equal({ records: [], fresh: 0, newer: 0 })
  })

  it('is at the time of its records, for links and exports', () => {
    const { records } = add(EMPTY_LIVE, [5_000, -1_000, -2_000])
    expect(windowOfTail(records, NOW)).to.deep.equal({ fromMs: NOW - 2_000, toMs: NOW + 5_001 })
    expect(windowOfTail([], NOW)).to.deep.equal({ fromMs: NOW - 300_000, toMs: NOW + 1 })
  })

  it('keeps a bounded number', () => {
    let buffer = EMPTY_LIVE
    for (let at = 1; at < 12; at++)
      buffer = add(
        buffer,
        Array.from({ length: LIVE_PAGE_SIZE }, (_, i) => at * 100_000 - i),
      )
    expect(buffer.records).to.have.length(MAX_LIVE_RECORDS)
    expect(buffer.seen).to.equal(11 * LIVE_PAGE_SIZE)
  })
})
