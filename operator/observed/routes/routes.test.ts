import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import { KINDS } from '../../api/crd.ts'
import type { LogPipeline } from '../../api/log-pipeline.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import { buildPipeline } from '../../desired/testing/build-pipeline.ts'
import { gatheredFrom } from '../testing/gathered-from.ts'
import type { AgentCounts, TargetCounts } from './dispatch-counts.ts'
import { MAX_ROUTE_BYTES } from './route-room.ts'
import { routeStatus } from './route-status.ts'
import { MAX_TARGETS } from './route-targets.ts'

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

function statusOf(
  name: string,
  objects: readonly KubernetesObject[],
  agents: readonly AgentCounts[] = [],
  pipelines?: readonly LogPipeline[],
) {
  const gathered = gatheredFrom(
    objects.some(({ kind }) => kind === 'LogPipeline') ? objects : [pipeline({ matchLabels: { none: 'such' } }), ...objects],
  )
  const found = gathered.routes.find(({ metadata }) => metadata.name === name) as TicketingRoute
  return routeStatus({
    route: found,
    pipelines: pipelines ?? [gathered.pipeline],
    read: gathered,
    now: NOW,
    agentsOf: () => agents,
    isThere: () => true,
  })
}

function summary({ conditions = [] }: ReturnType<typeof statusOf>): Readonly<Record<string, string>> {
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

const messageOf = ({ conditions = [] }: ReturnType<typeof statusOf>, type: string) =>
  conditions.find(condition => condition.type === type)!.message

describe('status of a TicketingRoute', () => {
  it('is Ready when a pipeline uses it', () => {
    const status = statusOf('a', [pipeline(), route('a'), SECRET])
    expect(summary(status)).to.deep.equal({
      ...{ Ready: 'True Ready', Accepted: 'True Accepted', CredentialsReady: 'True Found' },
      Dispatching: 'Unknown NotAsked',
    })
    expect(status).to.deep.include({ observedGeneration: 2, pipelines: ['shop'], target: 'pagerduty', dispatched: 0, failed: 0 })
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
      Dispatching: 'False NotSelected',
    })
    expect(status.pipelines).to.deep.equal([])
  })

  it('names the pipelines whose selector leaves the route out, where there are any', () => {
    const other = pipeline({ matchLabels: { pipeline: 'shop' } })
    expect(messageOf(statusOf('a', [other, route('a')]), 'Ready')).to.equal(
      'no LogPipeline of this namespace selects the route: expected labels as in spec.ticketing.routeSelector of shop',
    )
    expect(messageOf(statusOf('a', [route('a')], [], []), 'Ready')).to.match(/selects the route: there is none$/)
    const many = ['e', 'd', 'c', 'b'].map(name => ({ ...other, metadata: { ...other.metadata, name } })) as unknown as LogPipeline[]
    expect(messageOf(statusOf('a', [other, route('a')], [], many), 'Ready')).to.match(/routeSelector of b, c, d …$/)
  })

  it('has what was sent among the columns', () => {
    const { columns } = KINDS.find(({ kind }) => kind === 'TicketingRoute')!
    expect(columns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)).to.include.members([
      'Dispatching',
      'Sent',
      'Failed',
    ])
  })

  it('has the last error among the columns of -o wide, where a ticket fails', () => {
    const failing = { dispatched: 0, failed: 0, lastFailureMs: 1, lastError: 'PagerDuty answered 400' }
    const agent: AgentCounts = { pod: 'shop-0', since: NOW, targets: new Map([['pagerduty', failing]]) }
    const { jsonPath } = KINDS.find(({ kind }) => kind === 'TicketingRoute')!.columns.find(({ name }) => name === 'Message')!
    const [, type] = /@\.type=="(\w+)"/.exec(jsonPath)!
    expect(messageOf(statusOf('a', [pipeline(), route('a'), SECRET], [agent]), type!)).to.include('PagerDuty answered 400')
  })

  it('takes other fields of the platform from the Secret, and one of two that come together with the other alone', () => {
    const settings = { host: 'smtp.example', port: 587, from: 'a@b.example', to: 'c@d.example' }
    const mail = (data: object) => statusOf('a', [pipeline(), route('a', { platform: 'email', settings }), { ...SECRET, data }])
    expect(summary(mail({}))).to.include({ Ready: 'True Ready' })
    expect(summary(mail({ user: 'dQ==', password: 'cA==' }))).to.include({ Ready: 'True Ready' })
    const alone = mail({ password: 'cA==' })
    expect(summary(alone)).to.include({ Ready: 'False InvalidSecret' })
    expect(messageOf(alone, 'CredentialsReady')).to.equal(
      'spec.credentials: expected both of user and password or neither, found password alone',
    )
  })

  it('needs no credentials where a mail server asks for none, and says which settings are missing then', () => {
    const settings = { host: 'mail', port: 25, from: 'logs@shop.example', to: 'ops@shop.example' }
    const mail = (given: object) => ({ ...route('a'), spec: { severities: ['critical'], platform: 'email', settings: given } })
    expect(summary(statusOf('a', [pipeline(), mail(settings)]))).to.include({ Ready: 'True Ready', CredentialsReady: 'True Found' })
    const objects = buildPipeline({ gathered: gatheredFrom([pipeline(), mail(settings)]), settings: { image: 'x' } })
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'shop-ticketing')
    const declared = JSON.parse((config as unknown as { readonly data: { readonly 'ticketing.json': string } }).data['ticketing.json'])
    expect(declared.platforms).to.deep.equal({ email: { owner: 'ns/a', settings } })
    expect(objects.filter(({ kind }) => kind === 'Secret')).to.deep.equal([])
    const { host: _, ...lacking } = settings
    const status = statusOf('a', [pipeline(), mail(lacking)])
    expect(summary(status)).to.include({ Ready: 'False InvalidSettings', CredentialsReady: 'False InvalidSettings' })
    expect(messageOf(status, 'CredentialsReady')).to.equal('spec.settings: expected host, which no credentials hold')
    const alone = statusOf('a', [pipeline(), mail({ ...settings, user: 'logs' })])
    expect(summary(alone)).to.include({ Ready: 'False InvalidSecret' })
  })

  it('takes an empty text in settings, as templates write it, for a field that is not given', () => {
    const settings = { baseUrl: '', userEmail: 'bot@shop.example', projectKey: '' }
    const jira = (data: object) => statusOf('a', [pipeline(), route('a', { platform: 'jira', settings }), { ...SECRET, data }])
    const lacking = jira({ apiToken: 'dG9r' })
    expect(summary(lacking)).to.include({ Ready: 'False InvalidSecret' })
    expect(messageOf(lacking, 'CredentialsReady')).to.equal('spec.credentials: Secret pager: expected key baseUrl, found apiToken')
    expect(summary(jira({ apiToken: 'dG9r', baseUrl: 'aHR0cHM6Ly9h' }))).to.include({ Ready: 'True Ready' })
  })

  it('is not accepted with fields that are not of their form: an older CRD takes what PATCH refuses', () => {
    const secret = { ...SECRET, data: { apiToken: 'dG9r', password: 'cA==' } }
    const jira = { baseUrl: 'https://shop.example', userEmail: 'bot@shop.example' }
    const mail = { host: 'smtp.example', port: 587, from: 'a@b.example', to: 'c@d.example, e@f.example', user: 'u' }
    const address = 'expected an https URL such as https://example.com, without user name and fragment'
    const look = (platform: 'jira' | 'email', settings: Readonly<Record<string, string | number>>) => {
      const admitted = gatheredFrom([pipeline(), route('a', { platform, settings: platform === 'jira' ? jira : mail }), secret])
      const routes = admitted.routes.map(each => ({ ...each, spec: { ...each.spec, settings } }))
      const gathered = { ...admitted, routes }
      const pipelines = [gathered.pipeline]
      const status = routeStatus({ route: routes[0]!, pipelines, read: gathered, now: NOW, agentsOf: () => [], isThere: () => true })
      const objects = buildPipeline({ gathered, settings: { image: 'logpipeline:1' } })
      const { data } = objects.find(({ metadata }) => metadata.name === 'shop-ticketing') as { readonly data?: Record<string, string> }
      return { status, declared: (JSON.parse(data!['ticketing.json']!) as { readonly routes: readonly unknown[] }).routes.length }
    }
    for (const { status, declared } of [
      look('jira', { ...jira, baseUrl: 'http://jira.ns.svc:8080/' }),
      look('email', { ...mail, port: '587', secure: 'true' }),
    ]) {
      expect(summary(status)).to.include({ Ready: 'True Ready' })
      expect(declared).to.equal(1)
    }
    for (const [found, problem] of [
      [look('jira', { ...jira, baseUrl: 'shop.example' }), `spec.settings.baseUrl: ${address}, seen "shop.example"`],
      [
        look('jira', { ...jira, baseUrl: 'https://b:pw@shop.example' }),
        `spec.settings.baseUrl: ${address}, seen "https://****@shop.example"`,
      ],
      [look('jira', { ...jira, baseUrl: 7 }), `spec.settings.baseUrl: ${address}, seen 7`],
      [look('email', { ...mail, port: 'smtp' }), 'spec.settings.port: expected a port number from 1 to 65535, seen "smtp"'],
      [
        look('email', { ...mail, to: 'nobody', secure: 'yes' }),
        'spec.settings.to: expected an e-mail address, or a list of 1 to 50, seen "nobody"; spec.settings.secure: expected true or false, seen "yes"',
      ],
      [look('email', { ...mail, user: 'a\nb' }), 'spec.settings.user: expected text of 1 to 2048 characters in one line, seen "a\\nb"'],
    ] as const) {
      const both = { Ready: 'False InvalidSettings', Accepted: 'False InvalidSettings', CredentialsReady: 'True Found' }
      expect(summary(found.status), problem).to.include(both)
      expect(messageOf(found.status, 'Ready')).to.equal(problem)
      expect(found.declared, 'the others count').to.equal(0)
    }
  })

  it('does not take credentials that are not of their form, and shows none of them', () => {
    for (const [platform, data, problem] of [
      ['slack', { webhookUrl: 'hooks.example' }, 'key webhookUrl to hold an https URL such as https://example.com, without user name'],
      ['pagerduty', { routingKey: 'a\nb' }, 'key routingKey to hold text of 1 to 2048 characters in one line'],
    ] as const) {
      const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]))
      const status = statusOf('a', [pipeline(), route('a', { platform }), { ...SECRET, data: encoded }])
      expect(summary(status)).to.include({ Ready: 'False InvalidSecret', CredentialsReady: 'False InvalidSecret' })
      expect(messageOf(status, 'CredentialsReady')).to.equal(`spec.credentials: Secret pager: expected ${problem}`)
    }
    for (const webhookUrl of ['https://hooks.example/x\n', 'https://hooks.example/x#payments']) {
      const secret = { ...SECRET, data: { webhookUrl: btoa(webhookUrl) } }
      expect(summary(statusOf('a', [pipeline(), route('a', { platform: 'slack' }), secret]))).to.include({ Ready: 'True Ready' })
    }
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
    const long = { ...SECRET, data: { routingKey: btoa('x'.repeat(2 * 1024 + 1)) } }
    const status = statusOf('a', [pipeline(), route('a'), long])
    expect(summary(status)).to.include({ Ready: 'False InvalidSecret' })
    expect(messageOf(status, 'CredentialsReady')).to.equal(
      'spec.credentials: Secret pager: expected key routingKey to hold at most 2048 bytes, found 2049',
    )
    const fits = { ...SECRET, data: { routingKey: btoa('x'.repeat(2 * 1024)) } }
    expect(summary(statusOf('a', [pipeline(), route('a'), fits]))).to.include({ Ready: 'True Ready' })
  })

  it('says that it is switched off', () => {
    expect(summary(statusOf('a', [pipeline(), route('a', { enabled: false }), SECRET]))).to.include({ Ready: 'True Disabled' })
  })
})

describe('routes of one platform', () => {
  const older = route('a', { settings: { apiBaseUrl: 'https://eu.example' } })
  const younger = route('bb', { settings: { apiBaseUrl: 'https://us.example' } })

  it('with different settings are two targets: nothing contradicts', () => {
    const objects = [pipeline(), younger, older, SECRET]
    for (const [name, target] of [
      ['a', 'pagerduty'],
      ['bb', 'pagerduty:bb'],
    ] as const) {
      const status = statusOf(name, objects)
      expect(summary(status)).to.include({ Ready: 'True Ready', Accepted: 'True Accepted' })
      expect(status.target).to.equal(target)
      expect(messageOf(status, 'Ready')).to.equal(`selected by 1 pipeline; incidents go to ${target}`)
    }
  })

  it('that a namespace has too many of are told so', () => {
    const many = Array.from({ length: MAX_TARGETS }, (_, n) =>
      route(`r${n}`, { settings: { apiBaseUrl: `https://${n}.example` } }, { creationTimestamp: '2025-01-01T00:00:00Z' }),
    )
    const status = statusOf('bb', [pipeline(), ...many, younger, SECRET])
    expect(summary(status)).to.include({
      Ready: 'False TooManyTargets',
      Accepted: 'False TooManyTargets',
      Dispatching: 'False TooManyTargets',
    })
    expect(status.target).to.equal(undefined)
  })
})

describe('routes of a pipeline that are more than one ConfigMap holds', () => {
  const services = Array.from({ length: 64 }, (_, n) => `${n}`.padEnd(253, '日'))
  const aged = (n: number, spec: object = {}) =>
    route(`r${n}`, spec, { creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString() })
  const many = Array.from({ length: 60 }, (_, n) => aged(n, { services, settings: { apiBaseUrl: `https://${n}.example` } }))
  const objects = [pipeline(), ...many, SECRET]
  const configMapOf = (given: readonly KubernetesObject[]) => {
    const objects = buildPipeline({ gathered: gatheredFrom(given), settings: { image: 'logpipeline:1' } })
    const [text] = objects
      .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'shop-ticketing')
      .flatMap(({ ['data']: data }) => Object.values(data as Record<string, string>))
    return { text: text!, owners: (JSON.parse(text!).routes as readonly { owner: string }[]).map(({ owner }) => owner) }
  }

  it('count as long as there is room, the oldest first, and the others say so', () => {
    const { text, owners } = configMapOf(objects)
    expect(Buffer.byteLength(text)).to.be.within(MAX_ROUTE_BYTES / 2, 1024 * 1024)
    expect(owners).to.deep.equal(Array.from({ length: owners.length }, (_, n) => `ns/r${n}`))
    expect(owners.length).to.be.within(2, 59)
    expect(summary(statusOf(`r${owners.length - 1}`, objects))).to.include({ Ready: 'True Ready', Accepted: 'True Accepted' })
    const left = statusOf(`r${owners.length}`, objects)
    expect(summary(left)).to.include({ Ready: 'False TooManyRoutes', Accepted: 'False TooManyRoutes', Dispatching: 'False TooManyRoutes' })
    expect(messageOf(left, 'Accepted')).to.contain(`at most ${MAX_ROUTE_BYTES} bytes`).and.contain('shop sends nothing by this route')
  })

  it('leave room for a small one, which takes no place of an older one', () => {
    const { owners } = configMapOf([...objects, aged(60)])
    expect(owners).to.deep.equal([...configMapOf(objects).owners, 'ns/r60'])
  })

  it('are not counted where they are switched off', () => {
    const off = many.slice(0, 50).map(one => ({ ...one, spec: { ...(one['spec'] as object), enabled: false } }))
    expect(configMapOf([pipeline(), ...off, ...many.slice(50), SECRET]).owners).to.deep.equal(
      many.slice(50).map(({ metadata }) => `ns/${metadata.name}`),
    )
  })
})

describe('Dispatching of a route', () => {
  const objects = (status?: object) => [pipeline(), { ...route('a'), ...(status && { status }) }, SECRET]
  const agent = (counts: Partial<TargetCounts>): AgentCounts => ({
    pod: 'shop-ticketing-x',
    since: NOW,
    targets: new Map([['pagerduty', { dispatched: 0, failed: 0, ...counts }]]),
  })
  const dispatching = (counts: readonly Partial<TargetCounts>[], status?: object) => {
    const told = statusOf('a', objects(status), counts.map(agent))
    return [summary(told)['Dispatching'], messageOf(told, 'Dispatching')]
  }

  it('is not known before an agent has answered, and while there was nothing to send', () => {
    expect(dispatching([])).to.deep.equal(['Unknown NotAsked', 'no ticketing agent has told yet of what it sends'])
    expect(dispatching([{}])).to.deep.equal(['Unknown NothingToSend', 'there was no incident to send yet'])
  })

  it('is True once something arrived, and again after a failure', () => {
    expect(dispatching([{ dispatched: 1, lastDispatchMs: 2_000 }])[0]).to.equal('True Sent')
    expect(dispatching([{ dispatched: 1, lastDispatchMs: 2_000, lastFailureMs: 1_000 }])[0]).to.equal('True Sent')
    expect(dispatching([{ lastFailureMs: 1_000 }, { dispatched: 1, lastDispatchMs: 2_000 }])[0]).to.equal('True Sent')
  })

  it('is False while the last attempt failed, with the reason where it is known', () => {
    const failed = { dispatched: 1, lastDispatchMs: 1_000, lastFailureMs: 2_000 }
    expect(dispatching([{ ...failed, lastError: '401 Invalid Routing Key' }])).to.deep.equal([
      'False Failing',
      'the last attempt to tell pagerduty failed: 401 Invalid Routing Key',
    ])
    expect(dispatching([failed])[1]).to.equal(
      'the last attempt to tell pagerduty failed: GET /api/v1/dispatches of the ticketing agent says why',
    )
  })

  it('stays what it was while no agent answers: a restart of the operator changes nothing', () => {
    const before = statusOf('a', objects(), [agent({ dispatched: 1, lastDispatchMs: 1_000, lastFailureMs: 2_000, lastError: 'no' })])
    expect(statusOf('a', objects(before))).to.deep.equal(before)
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
