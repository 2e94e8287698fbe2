/** A bridge that is killed between the runs of a job still knows the job: its warnings open no incident after three times. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

const HOUR_MS = 3_600_000
const HOURS = 6
/** After these hours the process is killed, or stopped. What it reads again then, 5,000 records, holds two runs of the job. */
const KILLED_AFTER = new Set([3, 4])

describe('habits of services outlive the process', function () {
  this.timeout(120_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => standalone?.remove())

  const send = async (logRecords: readonly object[]) => {
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'carts' } }] }
    const response = await fetch(`${standalone.collector}/v1/logs`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
    })
    expect(response.status, await response.text()).to.equal(200)
  }
  const count = async (index: string, query: object): Promise<number> => {
    const response = await fetch(`${standalone.search}/${index}/_count`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ query }),
    })
    return response.status === 404 ? 0 : ((await response.json()) as { readonly count: number }).count
  }
  const told = (fromMs: number) =>
    count('service-anomalies-*', {
      bool: {
        filter: [
          { term: { service: 'carts' } },
          { exists: { field: 'signal' } },
          { range: { timestamp: { gte: fromMs, lt: fromMs + HOUR_MS / 2, format: 'epoch_millis' } } },
        ],
      },
    })

  it('a job of each hour is told three times, whatever happens in between', async () => {
    const startMs = Date.now() - (HOURS + 1) * HOUR_MS
    const spoke: boolean[] = []
    for (let hour = 0; hour < HOURS; hour++) {
      const fromMs = startMs + hour * HOUR_MS
      const at = (ms: number, severityText: string, stringValue: string) => ({
        ...{ timeUnixNano: `${fromMs + ms}000000`, severityText, body: { stringValue } },
      })
      await send([
        ...Array.from({ length: 2_500 }, (_, n) => at(n * 300, 'INFO', `order ${n} shipped`)),
        ...Array.from({ length: 8 }, (_, n) => at(750_100 + n * 200, 'WARN', `cart ${n} has no owner, skipped`)),
        ...Array.from({ length: 500 }, (_, n) => at(752_000 + n * 300, 'INFO', `order ${n} shipped`)),
      ])
      const sent = (hour + 1) * 3_008
      await eventually(async () => expect(await count('service-logs-*', { term: { service: 'carts' } })).to.equal(sent), {
        timeoutMs: 30_000,
      })
      // An anomaly is stored once the lifecycle thread has had its event.
      if (hour < 3) await eventually(async () => expect(await told(fromMs), `hour ${hour}`).to.be.above(0))
      else await new Promise(done => setTimeout(done, 1_500))
      spoke.push((await told(fromMs)) > 0)
      if (!KILLED_AFTER.has(hour)) continue
      if (hour === 3) await standalone.kill()
      else expect(await standalone.stop()).to.equal(0)
      await standalone.restart()
    }
    expect(spoke).to.deep.equal([true, true, true, false, false, false])
    const response = await fetch(`${standalone.search}/service-config/_search?q=section:habits`)
    const { hits } = (await response.json()) as { readonly hits: { readonly hits: readonly { readonly _source: object }[] } }
    expect(hits.hits.map(({ _source }) => JSON.stringify(_source))).to.satisfy((all: readonly string[]) =>
      all.some(text => text.includes('/carts')),
    )
  })
})
