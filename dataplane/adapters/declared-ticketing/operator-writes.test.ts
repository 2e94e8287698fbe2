import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildPipeline } from '../../../operator/desired/testing/build-pipeline.ts'
import { fixtureNames, readFixture } from '../../../operator/desired/testing/golden-files.ts'
import { type MountedFile, mountedFiles, workloadOf } from '../../../operator/desired/testing/pod-view.ts'
import { DECLARED_TICKETING_DIR } from '../../contract/declared-ticketing-files.ts'
import type { DeclaredLayer } from '../../ports/declared-ticketing.ts'
import { readDeclaredFiles } from './declared-files.ts'
import { createConfigMount } from './testing/config-mount.ts'

/** The layer that a pod of the workload reads from the files that the operator mounts there. */
async function readMount(fixture: string, workload: string): Promise<DeclaredLayer | undefined> {
  const input = readFixture(fixture)
  const objects = buildPipeline(input)
  const dataOf = ({ kind, name }: MountedFile) => {
    const object = objects.find(object => object.kind === kind && object.metadata.name === name)
    return (object?.['data'] ?? {}) as Readonly<Record<string, string>>
  }
  const keysOf = (file: MountedFile) => (file.key === '*' ? Object.keys(dataOf(file)) : [file.key])
  const contentOf = (file: MountedFile): string | undefined => {
    const { kind, key } = file
    const text = dataOf(file)[key]
    return kind === 'Secret' && text !== undefined ? Buffer.from(text, 'base64').toString() : text
  }
  const files = [...mountedFiles(workloadOf(objects, workload))]
    .filter(([path]) => path.startsWith(`${DECLARED_TICKETING_DIR}/`))
    .flatMap(([path, source]) => keysOf(source).map(key => [path.replace('*', key), { ...source, key }] as const))
    .flatMap(([path, source]) => {
      const content = contentOf(source)
      return content === undefined ? [] : [[path.slice(DECLARED_TICKETING_DIR.length + 1), content] as const]
    })
  const mount = createConfigMount(Object.fromEntries(files))
  const read = await readDeclaredFiles(mount.directory)
  mount.remove()
  if (!read.ok) throw new Error(read.problems.join('; '))
  return read.value
}

describe('What the operator mounts for ticketing', () => {
  it('is read as it was meant, with the oldest route first and several targets of one platform', async () => {
    const layer = await readMount('everything', 'shop-ticketing')
    expect(layer?.anomaly).to.deep.equal({ minimumScore: 0.9, lookbackWindow: '30m' })
    expect(layer?.llm).to.include({ apiKey: 'sk' })
    expect(layer?.platforms.pagerduty?.fields).to.include({ routingKey: 'rk' })
    expect(layer?.platforms.jira).to.deep.equal({
      owner: 'observability/tickets',
      fields: { baseUrl: 'https://shop.atlassian.example', userEmail: 'bot@example.com', projectKey: 'OPS', apiToken: 'tok' },
    })
    expect(layer?.platforms['jira:tickets-too']?.fields).to.include({
      baseUrl: 'https://other.example',
      apiToken: 'tok',
      webhookSecret: 'hook',
    })
    expect(layer?.routes.map(({ owner, platform }) => [owner, platform])).to.deep.equal([
      ['observability/pager', 'pagerduty'],
      ['observability/tickets', 'jira'],
      ['observability/tickets-too', 'jira:tickets-too'],
      ['observability/tickets-low', 'jira'],
    ])
  })

  it('tells the bridge when anomalies make an incident, and nothing of platforms', async () => {
    expect(await readMount('everything', 'shop-bridge')).to.deep.equal({
      anomaly: { minimumScore: 0.9, lookbackWindow: '30m' },
      platforms: {},
      routes: [],
    })
  })

  for (const fixture of fixtureNames().filter(name => name !== 'everything'))
    it(`declares nothing in ${fixture}, where no route is`, async () => {
      const { mode, metadata } = { ...readFixture(fixture).gathered.pipeline.spec, ...readFixture(fixture).gathered.pipeline }
      const layer = await readMount(fixture, mode === 'AllInOne' ? metadata.name : `${metadata.name}-ticketing`)
      expect(layer).to.deep.equal({ anomaly: {}, platforms: {}, routes: [] })
    })
})
