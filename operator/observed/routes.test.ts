import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { KINDS } from '../api/crd.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { routeStatus } from './route-status.ts'
import { findConflict, selectRoutes } from './routes.ts'
import { gatheredFrom } from './testing/gathered-from.ts'

const NOW = '2026-11-21T12:00:00Z'

function pipeline(routeSelector?: object): KubernetesObject {
  const spec = { mode: 'AllInOne', ticketing: routeSelector === undefined ? {} : { routeSelector } }
  return { apiVersion: 'logpipeline.dev/v1alpha1', kind: 'LogPipeline', metadata: { name: 'shop', namespace: 'ns' }, spec }
}

function route(name: string, spec: object = {}, metadata: object = {}): KubernetesObject {
  return {
    apiVersion: 'logpipeline.dev/v1alpha1',
    kind: 'TicketingRoute',
    metadata: { name, namespace: 'ns', generation: 2, creationTimestamp: `2026-01-0${name.length}T00:00:00Z`, ...metadata },
    spec: { severities: ['critical'], platform: 'pagerduty', credentials: { secret: { name: 'pager' } }, ...spec },
  }
}

const SECRET: KubernetesObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pager' }, data: { routingKey: 'YQ==' } }

function statusOf(name: string, objects: readonly KubernetesObject[], dispatches?: { readonly dispatched: number }) {
  const gathered = gatheredFrom(
    objects.some(({ kind }) => kind === 'LogPipeline') ? objects : [pipeline({ matchLabels: { none: 'such' } }), ...objects],
  )
  const found = gathered.routes.find(({ metadata }) => metadata.name === name) as TicketingRoute
  return routeStatus({
    route: found,
    pipelines: [gathered.pipeline],
    read: gathered,
    now: NOW,
    ...(dispatches === undefined ? {} : { dispatches }),
  })
}

function summary({ conditions = [] }: ReturnType<typeof statusOf>): Readonly<Record<string, string>> {
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

const messageOf = ({ conditions = [] }: ReturnType<typeof statusOf>, type: string) =>
  conditions.find(condition => condition.type === type)!.message

describe('status of a TicketingRoute', () => {
  it('is Ready when a pipeline uses it', () => {
    const status = statusOf('a', [pipeline(), route('a'), SECRET], { dispatched: 3 })
    expect(summary(status)).to.deep.equal({
      ...{ Ready: 'True Ready', Accepted: 'True Accepted', CredentialsReady: 'True Found' },
      Dispatching: 'False NotImplemented',
    })
    expect(status).to.deep.include({ observedGeneration: 2, pipelines: ['shop'], dispatched: 3 })
  })

  it('takes secrets that a platform can do without where they are there', () => {
    const named = route('a', { credentials: { secret: { name: 'pager' }, keys: { webhookSecret: 'hook' } } })
    const withHook = { ...SECRET, data: { routingKey: 'YQ==', hook: 'Yg==' } }
    for (const secret of [SECRET, withHook]) expect(summary(statusOf('a', [pipeline(), named, secret]))).to.include({ Ready: 'True Ready' })
    const empty = { ...SECRET, data: { routingKey: 'YQ==', hook: '' } }
    expect(summary(statusOf('a', [pipeline(), named, empty]))).to.include({ Ready: 'False InvalidSecret' })
  })

  it('is written, also when no pipeline selects the route', () => {
    const status = statusOf('a', [route('a')])
    expect(summary(status)).to.deep.equal({
      ...{ Ready: 'True NotSelected', Accepted: 'True Accepted', CredentialsReady: 'False MissingSecret' },
      Dispatching: 'False NotImplemented',
    })
    expect(status.pipelines).to.deep.equal([])
  })

  it('says plainly that nothing is sent, however ready the route is', () => {
    const status = statusOf('a', [pipeline(), route('a'), SECRET])
    expect(messageOf(status, 'Ready')).to.equal('selected by 1 pipeline; nothing is sent yet')
    expect(messageOf(status, 'Dispatching')).to.match(/^this version sends no incidents/)
    const { columns } = KINDS.find(({ kind }) => kind === 'TicketingRoute')!
    expect(columns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)).to.include('Dispatching')
  })

  it('names a Secret that is missing, and the fields that it lacks', () => {
    expect(summary(statusOf('a', [pipeline(), route('a')]))).to.include({ Ready: 'False MissingSecret' })
    const jira = route('a', { platform: 'jira', settings: { baseUrl: 'https://a' } })
    const status = statusOf('a', [pipeline(), jira, SECRET])
    expect(summary(status)).to.include({ Ready: 'False InvalidSecret' })
    expect(messageOf(status, 'CredentialsReady')).to.equal(
      'spec.credentials: Secret pager: expected key apiToken, found routingKey; key userEmail, found routingKey',
    )
  })

  it('takes no field that is far longer than any key: all of them have to fit into one Secret', () => {
    const long = { ...SECRET, data: { routingKey: btoa('x'.repeat(16 * 1024 + 1)) } }
    const status = statusOf('a', [pipeline(), route('a'), long])
    expect(summary(status)).to.include({ Ready: 'False InvalidSecret' })
    expect(messageOf(status, 'CredentialsReady')).to.equal(
      'spec.credentials: Secret pager: expected key routingKey to hold at most 16384 bytes, found 16385',
    )
    const fits = { ...SECRET, data: { routingKey: btoa('x'.repeat(16 * 1024)) } }
    expect(summary(statusOf('a', [pipeline(), route('a'), fits]))).to.include({ Ready: 'True Ready' })
  })

  it('says that it is switched off', () => {
    expect(summary(statusOf('a', [pipeline(), route('a', { enabled: false }), SECRET]))).to.include({ Ready: 'True Disabled' })
  })
})

describe('two routes that contradict each other', () => {
  const older = route('a', { settings: { apiBaseUrl: 'https://eu.example' } })
  const younger = route('bb', { settings: { apiBaseUrl: 'https://us.example' } })

  it('the older wins, the younger is told', () => {
    const objects = [pipeline(), younger, older, SECRET]
    expect(summary(statusOf('a', objects))).to.include({ Ready: 'True Ready' })
    const status = statusOf('bb', objects)
    expect(summary(status)).to.include({ Ready: 'False Conflict', Accepted: 'False Conflict' })
    expect(messageOf(status, 'Accepted')).to.equal(
      'spec.settings, spec.credentials: expected as in the older TicketingRoute a, which LogPipeline shop uses for pagerduty, too',
    )
  })

  it('of two that are equally old, the first by name', () => {
    const sameAge = { ...younger, metadata: { ...younger.metadata, creationTimestamp: older.metadata.creationTimestamp! } }
    expect(summary(statusOf('bb', [pipeline(), sameAge, older, SECRET]))).to.include({ Accepted: 'False Conflict' })
  })

  const NO_CONFLICT: readonly (readonly [name: string, objects: readonly KubernetesObject[]])[] = [
    [
      'with the same settings and credentials',
      [pipeline(), older, route('bb', { severities: ['low'], settings: { apiBaseUrl: 'https://eu.example' } }), SECRET],
    ],
    [
      'for different platforms',
      [pipeline(), older, route('bb', { platform: 'slack' }), { ...SECRET, data: { webhookUrl: 'YQ==', routingKey: 'YQ==' } }],
    ],
    ['when the older is switched off', [pipeline(), { ...older, spec: { ...(older['spec'] as object), enabled: false } }, younger, SECRET]],
    [
      'when the older is not selected',
      [
        pipeline({ matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }] }),
        { ...older, metadata: { ...older.metadata, labels: { old: '' } } },
        younger,
        SECRET,
      ],
    ],
  ]
  for (const [name, objects] of NO_CONFLICT) {
    it(`there is no contradiction ${name}`, () => expect(summary(statusOf('bb', objects))).to.include({ Ready: 'True Ready' }))
  }
})

describe('what the status of a route says', () => {
  it('is what its pipeline does, among many routes', () => {
    const many = Array.from({ length: 40 }, (_, i) =>
      route(
        `r${i}`,
        { platform: i % 2 === 0 ? 'pagerduty' : 'opsgenie', enabled: i % 7 !== 0, settings: { apiBaseUrl: `https://${i % 3}.example` } },
        { creationTimestamp: `2026-01-01T00:00:${10 + ((i * 7) % 13)}Z` },
      ),
    )
    const { pipeline: one, ...read } = gatheredFrom([pipeline(), ...many, SECRET])
    const selected = selectRoutes(one, read)
    expect(selected.filter(({ conflict }) => conflict !== undefined)).not.to.deep.equal([])
    for (const { route: each, conflict } of selected) expect(findConflict(one, each, read.routes)).to.equal(conflict)
  })
})

describe('a route selector', () => {
  const labelled = route('a', {}, { labels: { team: 'shop', tier: 'gold' } })
  const CASES: readonly (readonly [selector: object, isSelected: boolean])[] = [
    [{}, true],
    [{ matchLabels: { team: 'shop' } }, true],
    [{ matchLabels: { team: 'other' } }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', 'silver'] }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['silver'] }] }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }, false],
    [{ matchExpressions: [{ key: 'absent', operator: 'NotIn', values: ['gold'] }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
    [{ matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'absent', operator: 'Exists' }] }, false],
  ]
  for (const [selector, isSelected] of CASES) {
    it(JSON.stringify(selector), () => {
      expect(statusOf('a', [pipeline(selector), labelled, SECRET]).pipelines).to.deep.equal(isSelected ? ['shop'] : [])
    })
  }
})
