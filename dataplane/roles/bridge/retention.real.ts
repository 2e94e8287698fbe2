import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { tenantLogsAlias } from '../../contract/indices.ts'
import { INDEX_TEMPLATES } from '../../domain/documents/index-templates.ts'
import { formatDay } from '../../domain/records/timestamp.ts'
import { eventually } from '../../testing/eventually.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { type RecordFlow, startFlow } from '../stream/testing/record-flow.ts'
import { type RoleProcess, startRole } from '../stream/testing/role-process.ts'

export const needs = ['kafka', 'opensearch']

const DAY_MS = 86_400_000
const RETENTION_DAYS = 3
const WITHIN_A_MINUTE = { timeoutMs: 60_000, pauseMs: 100 }
const TENANT = 'retention-test'

const dayIndex = (daysAgo: number) => `service-logs-${formatDay(Date.now() - daysAgo * DAY_MS)}`
/** Retention ends between these and those, also should midnight come meanwhile. */
const EXPIRED = [4, 5, 40, 400].map(dayIndex)
const KEPT = [1, 2].map(dayIndex)
/** Older than anything, and no daily index of logs. */
const FOREIGN = [
  'service-logs-2020.01.01-reindexed',
  'service-logs-2020.13.45',
  'service-anomalies-retention-test',
  'retention-test-2020.01.01',
]

for (const kind of ['OpenSearch', 'the embedded store'] as const)
  describe(`retention by a bridge on Kafka and ${kind}`, function () {
    this.timeout(120_000)
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-retention-'))
    const started: RoleProcess[] = []
    let flow: RecordFlow
    let url: string

    const ask = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${url}/${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const indices = async () => {
      const { body } = await ask('GET', '_cat/indices?format=json&h=index')
      return (body as unknown as readonly { readonly index: string }[]).map(({ index }) => index)
    }
    const clear = async () => {
      const mine = new Set([...EXPIRED, ...KEPT, ...FOREIGN, dayIndex(0)])
      for (const index of await indices()) if (mine.has(index)) await ask('DELETE', index)
    }
    const start = async (role: 'search' | 'bridge', env: Readonly<Record<string, string>>) => {
      const process = await startRole(role, { DATA_DIR: join(directory, role), ...env })
      started.push(process)
      return process
    }

    before(async () => {
      flow = await startFlow()
      url = kind === 'OpenSearch' ? backendAddress('opensearch') : (await start('search', {})).url
      await clear()
      for (const [name, template] of Object.entries(INDEX_TEMPLATES)) await ask('PUT', `_index_template/${name}`, template)
      for (const index of [...EXPIRED, ...KEPT]) {
        await ask('PUT', `${index}/_doc/1?refresh=true`, { timestamp: '2026-01-01T00:00:00.000Z', tenant_id: TENANT, message: 'm' })
        await ask('PUT', `${index}/_alias/${tenantLogsAlias(TENANT)}`, { filter: { term: { tenant_id: TENANT } } })
      }
      for (const index of FOREIGN) await ask('PUT', `${index}/_doc/1?refresh=true`, { message: 'foreign' })
      // A closed index expires like any other.
      if (kind === 'OpenSearch') expect((await ask('POST', `${EXPIRED[3]}/_close`)).status).to.equal(200)
      await start('bridge', { ...flow.settings, SEARCH_ENDPOINT: url, RETENTION_DAYS: String(RETENTION_DAYS) })
    })
    after(async () => {
      for (const process of started.reverse()) await process.stop()
      await flow?.close()
      if (kind === 'OpenSearch') await clear()
      rmSync(directory, { recursive: true, force: true })
    })

    it('daily indices older than RETENTION_DAYS are deleted, newer and foreign ones are not', async () => {
      await eventually(async () => expect((await indices()).filter(index => EXPIRED.includes(index))).to.deep.equal([]), WITHIN_A_MINUTE)
      expect(await indices()).to.include.members([...KEPT, ...FOREIGN])
      for (const index of [...KEPT, ...FOREIGN]) expect((await ask('GET', `${index}/_count`)).body['count'], index).to.equal(1)
    })

    it("a tenant's alias stands for the days that are left", async () => {
      const { body } = await ask('GET', `_alias/${tenantLogsAlias(TENANT)}`)
      expect(Object.keys(body).toSorted()).to.deep.equal(KEPT.toSorted())
      expect((await ask('GET', `${tenantLogsAlias(TENANT)}/_count`)).body['count']).to.equal(KEPT.length)
    })

    it('the templates are there, and a new day comes with its mapping and alias', async () => {
      for (const name of Object.keys(INDEX_TEMPLATES)) expect((await ask('GET', `_index_template/${name}`)).status, name).to.equal(200)
      const given = await flow.give(50)
      await eventually(async () => {
        await ask('POST', `${dayIndex(0)}/_refresh`)
        expect((await ask('GET', `${dayIndex(0)}/_count`)).body['count']).to.equal(given)
      }, WITHIN_A_MINUTE)
      const { body } = await ask('GET', `${dayIndex(0)}/_mapping`)
      const { mappings } = body[dayIndex(0)] as { readonly mappings: { readonly properties: Record<string, { readonly type: string }> } }
      expect(mappings.properties['attributes']!.type).to.equal('flat_object')
      await eventually(
        async () => expect((await ask('GET', `${dayIndex(0)}/_alias/${tenantLogsAlias('default')}`)).status).to.equal(200),
        WITHIN_A_MINUTE,
      )
    })
  })
