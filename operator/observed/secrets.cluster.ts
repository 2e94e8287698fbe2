import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseAllDocuments } from 'yaml'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { downloadModule } from '../../dataplane/testing/real/go-tools.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { type ClusterSuite, installCrds, openClusterSuite } from '../testing/cluster-suite.ts'

export const needs = ['kubernetes']

const DOWNLOAD_MS = 120_000

describe('Secrets of a LogPipeline on a real API server', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let crd: ClusterObject
  before(async () => {
    suite = await openClusterSuite('secrets')
    const module = await downloadModule('github.com/external-secrets/external-secrets@v0.20.4', DOWNLOAD_MS)
    const documents = parseAllDocuments(readFileSync(join(module, 'deploy/crds/bundle.yaml'), 'utf8')).map(document => document.toJS())
    crd = { ...documents.find(({ metadata }) => metadata.name === 'externalsecrets.external-secrets.io') }
    // Versions are converted by a controller that is not here.
    crd.spec = { ...crd.spec, conversion: { strategy: 'None' } }
    await installCrds(suite.objects, [crd])
    await suite.startOperator()
  })
  after(async () => {
    await suite.objects.remove('CustomResourceDefinition', crd.metadata.name)
    await suite.close()
  })

  const secret = (name: string, stringData: object) =>
    suite.objects.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: suite.namespace }, stringData })
  const login = (password: string) => ({ username: 'u', password })
  const search = (credentials: object) => ({ search: { endpoint: 'https://search:9200', credentials } })

  /** ReplicaSets of each component: one more for each rollout. */
  const rollouts = async (name: string): Promise<Readonly<Record<string, number>>> => {
    const sets = await suite.objects.list('ReplicaSet', `app.kubernetes.io/instance=${name}`)
    const components = Map.groupBy(sets, ({ metadata }) => metadata.labels['app.kubernetes.io/component'] as string)
    return Object.fromEntries([...components].map(([component, { length }]) => [component, length]))
  }
  const untilRolled = (name: string, component: string, times: number) =>
    until(`${component} rolls`, async () => (await rollouts(name))[component] === times)

  it('is missing: MissingSecret, Stalled, the field is named, the rest runs; created: it goes on', async () => {
    const { objects } = suite
    await objects.apply(suite.pipeline('late', search({ secret: { name: 'late' } })))
    const stalled = await objects.condition('LogPipeline', 'late', 'Stalled', 'True')
    expect(conditionOf(stalled, 'Ready')).to.include({ status: 'False', reason: 'MissingSecret' })
    expect(conditionOf(stalled, 'Stalled').message).to.equal('spec.search.credentials.secret.name: expected a Secret late, found none')
    await objects.condition('LogPipeline', 'late', 'CollectorAvailable', 'Available')
    expect(await objects.get('Deployment', 'late-bridge'), 'none is made that could not start').to.equal(undefined)
    await secret('late', { username: 'u' })
    const invalid = await objects.condition('LogPipeline', 'late', 'Stalled', 'InvalidSecret')
    expect(conditionOf(invalid, 'Stalled').message).to.contain('Secret late: expected key SEARCH_PASSWORD or password, found username')
    await secret('late', login('p'))
    await objects.condition('LogPipeline', 'late', 'Ready', 'True')
  })

  it('is rotated: its readers roll once, nobody else', async () => {
    const { objects } = suite
    await secret('turning', login('old'))
    await suite.ready('turning', search({ secret: { name: 'turning' } }))
    await suite.ready('beside')
    const [before, beside] = [await rollouts('turning'), await rollouts('beside')]
    const { inputsHash } = (await objects.get('LogPipeline', 'turning')).status
    await secret('turning', login('new'))
    for (const reader of ['bridge', 'ticketing', 'agent']) await untilRolled('turning', reader, 2)
    await objects.condition('LogPipeline', 'turning', 'Ready', 'True')
    expect(before).to.deep.equal({ collector: 1, bridge: 1, ticketing: 1, agent: 1 })
    expect(await rollouts('turning')).to.deep.equal({ collector: 1, bridge: 2, ticketing: 2, agent: 2 })
    expect(await rollouts('beside')).to.deep.equal(beside)
    expect((await objects.get('LogPipeline', 'turning')).status.inputsHash).not.to.equal(inputsHash)
    // Keys that nobody reads are nobody's reason to roll.
    await secret('turning', { ...login('new'), comment: 'x' })
    await objects.remove('Secret', 'turning')
    const held = await objects.condition('LogPipeline', 'turning', 'Stalled', 'MissingSecret')
    expect(conditionOf(held, 'BridgeAvailable').reason, 'what runs keeps running').to.equal('Available')
    await secret('turning', login('new'))
    await objects.condition('LogPipeline', 'turning', 'Ready', 'True')
    expect(await rollouts('turning')).to.deep.equal({ collector: 1, bridge: 2, ticketing: 2, agent: 2 })
  })

  describe('from an ExternalSecret', () => {
    const external = { apiVersion: 'external-secrets.io/v1', kind: 'ExternalSecret' }
    const sayReady = (name: string, status: 'True' | 'False', reason: string, message: string) =>
      suite.objects.patch('ExternalSecret', name, { status: { conditions: [{ type: 'Ready', status, reason, message }] } }, 'status')

    it('waits until it is synced, uses its target Secret, says when a synchronisation fails, and rolls once on rotation', async () => {
      const { objects, namespace } = suite
      await objects.apply(suite.pipeline('vault', search({ externalSecret: { name: 'vault' } })))
      const missing = await objects.condition('LogPipeline', 'vault', 'Stalled', 'MissingSecret')
      expect(conditionOf(missing, 'Stalled').message).to.equal(
        'spec.search.credentials.externalSecret.name: expected an ExternalSecret vault, found none',
      )
      const spec = { secretStoreRef: { name: 'vault' }, target: { name: 'from-vault' }, dataFrom: [{ extract: { key: 'search' } }] }
      await objects.apply({ ...external, metadata: { name: 'vault', namespace }, spec })
      const waiting = await objects.condition('LogPipeline', 'vault', 'Reconciling', 'SecretNotSynced')
      expect(conditionOf(waiting, 'SecretsSynced').message).to.contain('expected ExternalSecret vault to be synced, seen no status yet')
      expect(conditionOf(waiting, 'Stalled').status).to.equal('False')
      await sayReady('vault', 'False', 'SecretSyncedError', 'could not get secret data from provider')
      const isTold = (pipeline: ClusterObject) => /SecretSyncedError: could not get/.test(conditionOf(pipeline, 'SecretsSynced').message)
      await objects.until('it is told', 'LogPipeline', 'vault', isTold)
      await secret('from-vault', login('1'))
      await sayReady('vault', 'True', 'SecretSynced', 'secret synced')
      await objects.condition('LogPipeline', 'vault', 'Ready', 'True')
      expect(JSON.stringify((await objects.get('Deployment', 'vault-bridge')).spec.template.spec.volumes)).to.contain('"from-vault"')
      await sayReady('vault', 'False', 'SecretSyncedError', 'vault is sealed')
      const stale = await objects.condition('LogPipeline', 'vault', 'SecretsSynced', 'SecretNotSynced')
      expect(conditionOf(stale, 'Ready').status, 'the Secret that is there is used').to.equal('True')
      await secret('from-vault', login('2'))
      await sayReady('vault', 'True', 'SecretSynced', 'secret synced')
      await untilRolled('vault', 'bridge', 2)
      await objects.condition('LogPipeline', 'vault', 'SecretsSynced', 'True')
      await objects.condition('LogPipeline', 'vault', 'Ready', 'True')
      expect(await rollouts('vault')).to.deep.equal({ collector: 1, bridge: 2, ticketing: 2, agent: 2 })
    })
  })
})
