import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { admit } from '../../../operator/api/testing/admission.ts'
import { buildPipeline, type PipelineInput } from '../../../operator/desired/testing/build-pipeline.ts'
import { fixtureNames, readFixture } from '../../../operator/desired/testing/golden-files.ts'
import { type MountedFile, mountedFiles, workloadOf } from '../../../operator/desired/testing/pod-view.ts'
import { gatheredFrom } from '../../../operator/observed/testing/gathered-from.ts'
import { DECLARED_TICKETING_DIR } from '../../contract/declared-ticketing-files.ts'
import { PLATFORM_NAMES, PLATFORMS, SEVERITIES } from '../../contract/platforms.ts'
import type { DeclaredLayer } from '../../ports/declared-ticketing.ts'
import { readDeclaredFiles } from './declared-files.ts'
import { createConfigMount } from './testing/config-mount.ts'

/** The layer that a pod of the workload reads from the files that the operator mounts there. */
const readMount = (fixture: string, workload: string) => readMountOf(readFixture(fixture), workload)

async function readMountOf(input: PipelineInput, workload: string): Promise<DeclaredLayer | undefined> {
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

const metadata = { name: 'shop', namespace: 'shop', uid: 'u' }

/** Values that the API server takes, and some that it takes though they are odd. */
function samplesOf(field: string): readonly [string | number, ...(string | number)[]] {
  if (/url$/i.test(field)) return ['https://a.example']
  if (/^(from|to|escalationTo)$/.test(field)) return ['a@b.example', 'a@b@c.example']
  return field === 'port' ? [587, '587'] : field === 'secure' ? ['true'] : ['text', 587, ' ']
}

/** Routes as users write them, with texts that hold nothing among their fields. */
const AnyRoute = fc.constantFrom(...PLATFORM_NAMES).chain(platform => {
  const { required, optional } = PLATFORMS[platform]
  const settings = Object.fromEntries([...required, ...optional].map(field => [field, fc.constantFrom('', ...samplesOf(field))]))
  return fc.record({
    platform: fc.constant(platform),
    severities: fc.subarray([...SEVERITIES], { minLength: 1 }),
    services: fc.constantFrom(['checkout*'], undefined),
    settings: fc.record(settings, { requiredKeys: [] }),
    credentials: fc.constantFrom('all', 'secrets', 'nothing').map(name => ({ secret: { name } })),
    escalation: fc.boolean(),
  })
})
const AnyWindow = fc.stringMatching(/^([0-9]{1,3}([.][0-9])?(ms|[smhd])){1,3}$/)

const SECRET_FIELDS = Object.values(PLATFORMS).flatMap(({ secret, optionalSecret }) => [...secret, ...optionalSecret])
const ALL_FIELDS = Object.values(PLATFORMS).flatMap(({ required, optional }) => [...required, ...optional])
const secretOf = (name: string, fields: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop' },
  data: Object.fromEntries(fields.map(field => [field, btoa(String(samplesOf(field)[0]))])),
})

describe('What the operator mounts for ticketing', () => {
  it('is sound whatever the API server takes: one route or window cannot put all others out of force', async () => {
    const property = fc.asyncProperty(fc.array(AnyRoute, { maxLength: 4 }), AnyWindow, async (routes, lookbackWindow) => {
      const spec = { mode: 'AllInOne', ticketing: { anomaly: { lookbackWindow } } }
      const pipeline = { apiVersion: 'logpipeline.dev/v1alpha1', kind: 'LogPipeline', metadata, spec }
      fc.pre(admit('LogPipeline', pipeline).problems.length === 0)
      const objects = routes.map((route, n) => ({
        ...{ apiVersion: 'logpipeline.dev/v1alpha1', kind: 'TicketingRoute', metadata: { name: `route-${n}`, namespace: 'shop' } },
        spec: JSON.parse(JSON.stringify(route)) as object,
      }))
      const secrets = [secretOf('all', [...SECRET_FIELDS, ...ALL_FIELDS]), secretOf('secrets', SECRET_FIELDS), secretOf('nothing', [])]
      const gathered = gatheredFrom([pipeline, ...objects, ...secrets])
      const layer = await readMountOf({ gathered, settings: { image: 'logpipeline:1' } }, 'shop')
      expect(layer?.anomaly).to.deep.equal({ lookbackWindow })
    })
    await fc.assert(property, { seed: 20_261_128, numRuns: 60 })
  })

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
