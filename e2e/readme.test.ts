import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ListedIncident } from './api.ts'
import { eventually, startStandalone } from './standalone-process.ts'

/** The README's shell blocks that call curl, in order. */
function curlBlocks(): readonly string[] {
  const text = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8')
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!).filter(block => block.includes('curl'))
}

describe("the README's first minute", () => {
  it('sends three records, sees an incident, finds a log', async function () {
    this.timeout(60_000)
    const app = await startStandalone()
    try {
      const run = (block: string) => {
        const here = block
          .replaceAll('http://127.0.0.1:4318', app.collector)
          .replaceAll('http://127.0.0.1:18081', app.ticketing)
          .replaceAll('http://127.0.0.1:9200', app.search)
        return JSON.parse(execFileSync('sh', ['-c', here], { encoding: 'utf8' })) as unknown
      }
      const [send, list, search] = curlBlocks()
      expect(run(send!)).to.deep.equal({ partialSuccess: {} })
      await eventually(async () => {
        const incidents = run(list!) as readonly ListedIncident[]
        expect(incidents.map(({ service, status, severity, anomalyCount }) => ({ service, status, severity, anomalyCount }))).to.deep.equal(
          [{ service: 'checkout', status: 'open', severity: 'critical', anomalyCount: 3 }],
        )
      })
      await eventually(async () => {
        const found = run(search!) as { hits: { total: { value: number }; hits: { _source: { message: string } }[] } }
        expect(found.hits.total.value).to.equal(1)
        expect(found.hits.hits[0]!._source.message).to.equal('payment 4711: connection refused')
      })
    } finally {
      await app.remove()
    }
  })
})
