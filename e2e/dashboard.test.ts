/** Through port 3000 alone: upload a file, find it by its `batch_id`, see its incident. */
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { eventually } from './testing/standalone-process.ts'
import { useUsualStandalone } from './testing/usual-standalone.ts'

describe('the dashboard of a standalone', function () {
  this.timeout(60_000)
  const at = useUsualStandalone()

  const search = async (query: object) => {
    const response = await fetch(`${at.app.dashboard}/api/search/service-logs-*/_search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size: 100, sort: ['timestamp', 'nanos'], query }),
    })
    const { hits } = (await response.json()) as { hits: { hits: { _source: Record<string, unknown> }[] } }
    return hits.hits.map(({ _source }) => _source)
  }

  it('takes an upload in, and finds it by its batch_id', async () => {
    const lines = [
      '{"message":"payment 1: connection refused","level":"ERROR","service":"checkout","host":"web-1","user.id":"u1"}',
      'no JSON',
      '{"msg":"OutOfMemory after a timeout","severity":"fatal","service":"checkout"}',
      '{"log":"paid","time":"2026-01-01T00:00:00.000000001Z","trace_id":"0af7651916cd43dd8448eb211c80319c","ms":12.5}',
    ]
    const form = new FormData()
    form.append('file', new Blob([lines.join('\n')]), 'logs.ndjson')
    const response = await fetch(`${at.app.dashboard}/api/upload`, { method: 'POST', body: form })
    expect(response.status).to.equal(200)
    const { batchId, ...counts } = (await response.json()) as { batchId: string; errors: { line: number }[] }
    expect(counts).to.deep.include({ accepted: 3, rejected: 1 })
    expect(counts.errors.map(({ line }) => line)).to.deep.equal([2])
    const found = await eventually(async () => {
      const records = await search({ term: { batch_id: batchId } })
      expect(records).to.have.length(3)
      return records
    })
    const [old, refused, memory] = found
    expect(old).to.include({
      message: 'paid',
      service: 'unknown_service',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      ms: 12.5,
      level: 'INFO',
    })
    expect(refused).to.include({ service: 'checkout', host: 'web-1', level: 'ERROR', 'user.id': 'u1', batch_line: 1, tenant_id: 'default' })
    expect(memory).to.include({ level: 'FATAL', batch_line: 3 })
  })

  it('shows the incident that follows', async () => {
    await eventually(async () => {
      const incidents = (await (await fetch(`${at.app.dashboard}/api/ticketing/api/incidents?status=open`)).json()) as { service: string }[]
      expect(incidents.map(({ service }) => service)).to.include('checkout')
    })
  })

  it('makes, lists and revokes API keys', async () => {
    const ask = async (method: string, body?: object) => {
      const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      return (await fetch(`${at.app.dashboard}/api/admin/api-keys`, { method, ...init })).json()
    }
    const { id, key } = (await ask('POST', { name: 'shop' })) as { id: string; key: string }
    expect(key).to.match(/^svc_proj_[0-9a-f]{64}$/)
    const [listed] = (await ask('GET')) as { id: string; name: string; prefix: string; lastUsedAt: null }[]
    expect(listed).to.include({ id, name: 'shop', prefix: `svc_proj_${key.slice(9, 13)}…${key.slice(-4)}`, lastUsedAt: null })
    expect(await ask('DELETE', { id })).to.deep.equal({ status: 'ok', revokedId: id })
    expect(await ask('GET')).to.deep.equal([])
  })

  it('says that all back ends answer', async () => {
    const { status, backends } = (await (await fetch(`${at.app.dashboard}/health`)).json()) as { status: string; backends: object }
    expect(status).to.equal('ok')
    expect([...new Set(Object.values(backends))]).to.deep.equal(['connected'])
  })
})
