import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { SearchBody } from '../../logs/requests/scope.ts'
import { findVersionChange, type VersionRecord } from './version-change.ts'

const FIRST = Date.parse('2026-11-27T03:00:00Z')
const MINUTE = 60_000
type Given = readonly [minutes: number, version?: string]

/** A store of records at so many minutes before the incident that answers what `findVersionChange` asks. */
function storeOf(given: readonly Given[]) {
  const records = given.map(
    ([minutes, version]) =>
      ({
        timestamp: new Date(FIRST - minutes * MINUTE).toISOString(),
        ...(version !== undefined && { attributes: { 'service.version': version } }),
      }) as VersionRecord,
  )
  return async (body: SearchBody): Promise<readonly VersionRecord[]> => {
    const { size, query, sort } = body as {
      size: number
      sort: readonly [{ timestamp: 'asc' | 'desc' }]
      query: {
        bool: { filter: readonly Record<string, Record<string, unknown>>[]; must_not?: readonly { term: Record<string, string> }[] }
      }
    }
    const field = 'attributes.service.version'
    const versionOf = (record: VersionRecord) => (record.attributes as Record<string, string> | undefined)?.['service.version']
    const { gte, lt } = query.bool.filter[0]!['range']!['timestamp'] as { gte: string; lt: string }
    const wanted = query.bool.filter[3]?.['term']?.[field]
    const unwanted = query.bool.must_not?.[0]?.term[field]
    return records
      .filter(({ timestamp }) => timestamp >= gte && timestamp < lt)
      .filter(
        record => (wanted === undefined || versionOf(record) === wanted) && (unwanted === undefined || versionOf(record) !== unwanted),
      )
      .toSorted((a, b) => (sort[0].timestamp === 'asc' ? 1 : -1) * a.timestamp.localeCompare(b.timestamp))
      .slice(0, size)
  }
}

const find = (...given: readonly Given[]) => findVersionChange(storeOf(given), { service: 'pay', tenant: 'default', firstSeenMs: FIRST })

describe('another version shortly before an incident', () => {
  it('is told with the one before and the time of its first record', async () => {
    expect(await find([300, '1.0'], [6, '1.0'], [5, '1.1'], [1, '1.1'])).to.deep.equal({
      service: 'pay',
      version: '1.1',
      before: '1.0',
      sinceMs: FIRST - 5 * MINUTE,
    })
  })

  it('is told while the old one still runs beside it', async () => {
    expect(await find([300, '1.0'], [5, '1.1'], [4, '1.0'], [1, '1.0'])).to.include({ version: '1.1', before: '1.0' })
  })

  it('is told where records before it named none', async () => {
    expect(await find([30], [5, '1.1'])).to.include({ version: '1.1', before: undefined })
  })

  it('is a return to an older version, too, after a day', async () => {
    expect(await find([1_500, '1.0'], [1_000, '1.1'], [5, '1.0'])).to.include({ version: '1.0', before: '1.1' })
  })

  it('is not told of one version, one that is hours old, a service that is new, or records without a version', async () => {
    expect(await find([300, '1.0'], [1, '1.0'])).to.equal(undefined)
    expect(await find([300, '1.0'], [121, '1.1'], [1, '1.1'])).to.equal(undefined)
    expect(await find([5, '1.0'], [1, '1.0'])).to.equal(undefined)
    expect(await find([5], [1])).to.equal(undefined)
  })
})
