import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readRecords } from '../records/log-record.ts'
import { EXPORT_PAGE_SIZE } from '../requests/records.ts'
import type { SearchBody } from '../requests/scope.ts'
import { MATCH_ALL } from '../search/to-query.ts'
import { csvCell, exportLines, exportName } from './csv.ts'
import { exportRecords, MAX_EXPORTED_RECORDS } from './export-records.ts'

const scope = { query: MATCH_ALL, window: { fromMs: 0, toMs: 1_000 } }

/** A store of so many records. */
/** `failing`: the request, from 1, that a part of the store does not answer. */
function storeOf(count: number, failing?: number) {
  const asked: SearchBody[] = []
  const search = async (body: SearchBody) => {
    asked.push(body)
    const from = ((body['search_after'] as number[] | undefined)?.[0] ?? -1) + 1
    const size = Math.min(Number(body['size']), count - from)
    return {
      _shards: { total: 2, successful: 2, failed: asked.length === failing ? 1 : 0 },
      hits: {
        hits: Array.from({ length: Math.max(0, size) }, (_, i) => ({
          _id: `${from + i}`,
          _index: 'i',
          _source: { n: from + i },
          sort: [from + i],
        })),
      },
    }
  }
  return { asked, search }
}

async function run(count: number, signal = new AbortController().signal, failing?: number) {
  const { asked, search } = storeOf(count, failing)
  let text = ''
  const steps: number[] = []
  const deps = {
    search,
    signal,
    write: (part: string) => {
      text += part
    },
    progress: (written: number) => void steps.push(written),
  }
  const result = await exportRecords({ scope, order: 'newest', format: 'ndjson', columns: [] }, deps)
  return { ...result, asked: asked.length, steps, lines: text.split('\n').length - 1 }
}

describe('export', () => {
  it('goes page by page to the end', async () => {
    expect(await run(0)).to.deep.include({ written: 0, lines: 0, isCut: false, asked: 1 })
    expect(await run(2_500)).to.deep.include({ written: 2_500, lines: 2_500, isCut: false, asked: 3, steps: [1_000, 2_000, 2_500] })
  })

  it('says that records are missing where a part of the store could not be read', async () => {
    const never = new AbortController().signal
    expect(await run(2_500, never)).to.deep.include({ written: 2_500, isIncomplete: false })
    expect(await run(2_500, never, 2)).to.deep.include({ written: 2_500, isIncomplete: true })
  })

  it('ends at a bound, and says so', async () => {
    expect(await run(MAX_EXPORTED_RECORDS)).to.deep.include({ written: MAX_EXPORTED_RECORDS, isCut: false })
    expect(await run(MAX_EXPORTED_RECORDS + 1)).to.deep.include({ written: MAX_EXPORTED_RECORDS, isCut: true, lines: MAX_EXPORTED_RECORDS })
    expect(MAX_EXPORTED_RECORDS % EXPORT_PAGE_SIZE).to.equal(0)
  })

  it('stops when it is told to', async () => {
    const stopped = await run(10, AbortSignal.abort(new Error('stopped'))).catch((error: Error) => error.message)
    expect(stopped).to.equal('stopped')
  })

  it('quotes cells, and no cell is a formula', () => {
    const cells = [
      ...[
        'plain',
        'a,b',
        'say "no"',
        'two\nlines',
        '=1+1',
        '+cmd',
        '-x',
        '@a',
        '\tx',
        '-5',
        '+5',
        '-1e3',
        '=HYPERLINK("x")',
        '',
        '-',
        '- 5',
        '\n=1',
        '＝1+1',
        '＠a',
        '－1',
      ],
    ].map(csvCell)
    expect(cells).to.deep.equal([
      ...['plain', '"a,b"', '"say ""no"""', '"two\nlines"', "'=1+1", "'+cmd", "'-x", "'@a", "'\tx", '-5', '+5', '-1e3'],
      ...['"\'=HYPERLINK(""x"")"', '', "'-", "'- 5", '"\'\n=1"', "'＝1+1", "'＠a", "'－1"],
    ])
  })

  it('has the chosen columns', () => {
    const records = readRecords({ hits: { hits: [{ _id: '1', _index: 'i', _source: { level: 'INFO', 'a.b': 1 } }] } })
    expect(exportLines('csv', ['level', 'a.b', 'c'], records)).to.equal('INFO,1,\r\n')
    expect(exportLines('ndjson', [], records)).to.equal('{"level":"INFO","a.b":1}\n')
    expect(exportName('csv', Date.UTC(2026, 10, 22, 10))).to.equal('logs-2026-11-22T10-00.csv')
  })
})
