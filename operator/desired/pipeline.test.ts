import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import type { Workload } from '../observed/foreign-kinds.ts'
import type { Gathered } from '../observed/gathered.ts'
import { buildPipeline, type PipelineInput, planOf } from './testing/build-pipeline.ts'
import { readFixture } from './testing/golden-files.ts'
import { containerOf, podOf, workloadOf, workloadsOf } from './testing/pod-view.ts'

function changed(input: PipelineInput, change: Partial<Gathered>): PipelineInput {
  return { ...input, gathered: { ...input.gathered, ...change } }
}

function withSpec(input: PipelineInput, spec: Partial<LogPipelineSpec>): PipelineInput {
  const { pipeline } = input.gathered
  return changed(input, { pipeline: { ...pipeline, spec: { ...pipeline.spec, ...spec } } })
}

function secretChanged(input: PipelineInput, name: string, data: Readonly<Record<string, string>>): PipelineInput {
  const secret = input.gathered.secrets[name]!
  return changed(input, { secrets: { ...input.gathered.secrets, [name]: { ...secret, data: { ...secret.data, ...data } } } })
}

function hashes(input: PipelineInput): Readonly<Record<string, string>> {
  const entries = workloadsOf(buildPipeline(input)).map(({ metadata, spec }) => [
    metadata.name,
    spec.template.metadata!.annotations!['logpipeline.dev/inputs-hash']!,
  ])
  return Object.fromEntries(entries)
}

/** Names of the workloads whose pods are rolled. */
function rolled(before: PipelineInput, after: PipelineInput): readonly string[] {
  const [old, now] = [hashes(before), hashes(after)]
  return Object.keys(now).filter(name => old[name] !== now[name])
}

/** A live Deployment whose `spec.replicas` belongs to `manager`. */
function scaledBy(manager: string, component: string, replicas: number): Gathered['workloads'] {
  return live(component, replicas, { managedFields: [{ manager, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] })
}

/** A live Deployment; without metadata nothing tells whose `spec.replicas` is. */
function live(component: string, replicas: number, metadata: Partial<Workload['metadata']> = {}): Gathered['workloads'] {
  const workload: Workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `shop-${component}`, ...metadata },
    spec: { replicas },
  }
  return { [component]: workload }
}

const ticketingSecret = (input: PipelineInput) => buildPipeline(input).find(({ kind }) => kind === 'Secret')

const distributed = readFixture('distributed')
const everything = readFixture('everything')
const replicasOf = (input: PipelineInput, name: string) => workloadOf(buildPipeline(input), name).spec.replicas

describe('a rotated secret', () => {
  it('rolls the components that read it, and no others', () => {
    const after = secretChanged(everything, 'search-synced', { pw: 'bmV3' })
    const readers = ['gateway', 'bridge', 'ticketing', 'agent', 'dashboard', 'scheduler'].map(component => `shop-${component}`)
    expect(rolled(everything, after)).to.deep.equal(readers)
    expect(planOf(after).facts.inputsHash).not.to.equal(planOf(everything).facts.inputsHash)
  })

  it('of a route or of the language model rolls nothing: it is mounted, and read again', () => {
    for (const after of [
      secretChanged(everything, 'pager', { routingKey: 'bmV3' }),
      secretChanged(everything, 'llm', { apiKey: 'bmV3' }),
    ]) {
      expect(rolled(everything, after)).to.deep.equal([])
      expect(ticketingSecret(after)).not.to.deep.equal(ticketingSecret(everything))
    }
  })

  it('of the gateway’s certificate rolls nothing: the gateway reads its files again', () => {
    const after = secretChanged(everything, 'gateway-tls', { 'tls.crt': btoa('-----BEGIN CERTIFICATE----- new') })
    expect(buildPipeline(after)).to.deep.equal(buildPipeline(everything))
    expect(planOf(after).facts.inputsHash).to.equal(planOf(everything).facts.inputsHash)
  })

  it('of the first API key rolls the gateway, and that of the console the dashboard', () => {
    expect(rolled(everything, secretChanged(everything, 'first-key', { first: btoa(`svc_proj_${'1'.repeat(64)}`) }))).to.deep.equal([
      'shop-gateway',
    ])
    expect(rolled(everything, secretChanged(everything, 'console', { password: btoa('another one') }))).to.deep.equal(['shop-dashboard'])
  })

  it('rolls nothing when only a key changes that nobody reads', () => {
    expect(rolled(everything, secretChanged(everything, 'search-synced', { other: 'bmV3' }))).to.deep.equal([])
  })

  it('is the only thing that does: the same inputs give the same objects', () => {
    expect(buildPipeline(readFixture('everything'))).to.deep.equal(buildPipeline(everything))
  })
})

describe('ticket settings', () => {
  const { routes, secrets, pipeline } = everything.gathered
  const { anomaly, llm, routeSelector, ...ofPods } = pipeline.spec.ticketing!
  const NONE = withSpec(changed(everything, { routes: [] }), { ticketing: ofPods })
  const ALL_IN_ONE: PipelineInput = {
    ...everything,
    gathered: { ...readFixture('all-in-one').gathered, secrets: { ...secrets, ...readFixture('all-in-one').gathered.secrets } },
  }
  const REREAD = { anomaly: anomaly!, llm: llm!, routeSelector: routeSelector! }
  const own = routes.map(route => ({ ...route, metadata: { ...route.metadata, namespace: 'default' } }))
  const CHANGES: readonly (readonly [title: string, before: PipelineInput, after: PipelineInput])[] = [
    ['the first route of a pipeline of mode Distributed', NONE, changed(NONE, { routes })],
    ['all that is read again, at once', NONE, everything],
    ['the first route of a pipeline of mode AllInOne', ALL_IN_ONE, changed(ALL_IN_ONE, { routes: own })],
    ['all that is read again, at once in mode AllInOne', ALL_IN_ONE, withSpec(changed(ALL_IN_ONE, { routes: own }), { ticketing: REREAD })],
    [
      'a model whose Secret is not there, in mode AllInOne',
      ALL_IN_ONE,
      withSpec(changed(ALL_IN_ONE, { secrets: readFixture('all-in-one').gathered.secrets }), { ticketing: REREAD }),
    ],
  ]
  for (const [title, before, after] of CHANGES)
    it(`restart nothing: ${title}`, () => {
      expect(workloadsOf(buildPipeline(after))).to.deep.equal(workloadsOf(buildPipeline(before)))
      expect(planOf(after).held).to.deep.equal([])
      expect(planOf(after).facts.inputsHash).to.equal(planOf(before).facts.inputsHash)
    })

  it('come and go with the Secret that they are mounted from, which holds what is used and nothing else', () => {
    expect(ticketingSecret(NONE)).to.equal(undefined)
    expect(ticketingSecret(everything)!['data']).to.deep.equal({
      'llm.apiKey': 'c2s=',
      'pagerduty.routingKey': 'cms=',
      'jira.apiToken': 'dG9r',
      'jira.tickets-too.apiToken': 'dG9r',
      'jira.tickets-too.webhookSecret': 'aG9vaw==',
    })
    expect(ticketingSecret(changed(everything, { routes: [] }))!['data']).to.deep.equal({ 'llm.apiKey': 'c2s=' })
  })

  it('never declare a model whose key is not there', () => {
    const { llm: _, ...others } = secrets
    const config = buildPipeline(changed(everything, { secrets: others })).find(({ metadata }) => metadata.name === 'shop-ticketing')
    expect(JSON.stringify(config)).not.to.include('openai')
  })
})

describe('ticketing', () => {
  const ticketing = (spec: NonNullable<LogPipelineSpec['ticketing']>) => withSpec(distributed, { ticketing: spec })
  const variables = (input: PipelineInput, name: string) => {
    const [container] = podOf(workloadOf(buildPipeline(input), name)).containers
    return Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  }

  it('has as many pods as the resource says, and a disruption budget from two on', () => {
    const hasBudget = (input: PipelineInput) =>
      buildPipeline(input).some(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === 'shop-ticketing')
    expect([replicasOf(distributed, 'shop-ticketing'), hasBudget(distributed)]).to.deep.equal([1, false])
    expect([replicasOf(ticketing({ replicas: 2 }), 'shop-ticketing'), hasBudget(ticketing({ replicas: 2 }))]).to.deep.equal([2, true])
  })

  it('reaches no private addresses unless the resource says so, in mode AllInOne neither', () => {
    for (const [input, name] of [
      [distributed, 'shop-ticketing'],
      [readFixture('all-in-one'), readFixture('all-in-one').gathered.pipeline.metadata.name],
    ] as const) {
      expect(variables(input, name)).to.include({ ALLOW_PRIVATE_TARGETS: 'false' })
      const allowed = withSpec(input, { ticketing: { allowPrivateTargets: true } })
      expect(variables(allowed, name)).to.include({ ALLOW_PRIVATE_TARGETS: 'true' })
    }
  })

  it('keeps secrets under a key that is made once, or under that of the resource; standalone under one of its own', () => {
    const made = (input: PipelineInput) => planOf(input).madeOnce.map(({ secret, key }) => [secret.metadata.name, key])
    expect(made(distributed)).to.deep.equal([['shop-encryption-key', 'ENCRYPTION_KEY']])
    expect(made(everything)).to.deep.equal([])
    expect(made(readFixture('all-in-one'))).to.deep.equal([])
    for (const input of [distributed, everything])
      expect(variables(input, 'shop-ticketing')).to.include({ ENCRYPTION_KEY_FILE: '/etc/logpipeline/settings/ENCRYPTION_KEY' })
    const rotated = secretChanged(everything, 'sealing', { ENCRYPTION_KEY: btoa(btoa('x'.repeat(32))) })
    expect(rolled(everything, rotated)).to.deep.equal(['shop-ticketing'])
  })
})

describe('replicas', () => {
  const CASES: readonly (readonly [name: string, input: PipelineInput, replicas: number | undefined])[] = [
    ['are 2 for the collector unless said otherwise (Spec: Limits)', distributed, 2],
    ['are what the resource says', withSpec(distributed, { collector: { replicas: 5 } }), 5],
    [
      'are what the resource says, though somebody scaled',
      changed(withSpec(distributed, { collector: { replicas: 5 } }), { workloads: scaledBy('kubectl', 'collector', 9) }),
      5,
    ],
    [
      'are left to whoever scaled, when the resource does not say',
      changed(distributed, { workloads: scaledBy('kubectl', 'collector', 9) }),
      undefined,
    ],
    [
      'stay the default while nobody else set them',
      changed(distributed, { workloads: scaledBy('logpipeline-operator', 'collector', 2) }),
      2,
    ],
    ['begin with the least that an autoscaler may set', everything, 2],
    [
      'are left to the autoscaler once it has set them',
      changed(everything, { workloads: scaledBy('kube-controller-manager', 'collector', 7) }),
      undefined,
    ],
    [
      'stay as they are until the autoscaler has set them',
      changed(everything, { workloads: scaledBy('logpipeline-operator', 'collector', 4) }),
      4,
    ],
    [
      'begin with the least where nothing ran: an autoscaler does nothing while there are no pods',
      changed(everything, { workloads: scaledBy('logpipeline-operator', 'collector', 0) }),
      2,
    ],
    [
      'stay at none where somebody else scaled to zero, who has stopped the autoscaler thereby',
      changed(everything, { workloads: scaledBy('kubectl', 'collector', 0) }),
      undefined,
    ],
  ]
  for (const [name, input] of Object.entries({ 'without an autoscaler': distributed, 'with one': everything }))
    it(`stay what they are where nothing tells who set them, ${name}`, () => {
      expect(replicasOf(changed(input, { workloads: live('collector', 9) }), 'shop-collector')).to.equal(9)
    })
  for (const [name, input, replicas] of CASES) it(name, () => expect(replicasOf(input, 'shop-collector')).to.equal(replicas))
})

describe('autoscalers', () => {
  const find = (input: PipelineInput, kind: string, name: string) =>
    buildPipeline(input).find(object => object.kind === kind && object.metadata.name === name)?.['spec'] as
      | {
          readonly minReplicas?: number
          readonly minReplicaCount?: number
          readonly maxReplicaCount?: number
          readonly triggers: readonly Trigger[]
        }
      | undefined
  interface Trigger {
    readonly metadata: { readonly topic: string; readonly consumerGroup: string }
  }
  const lags = (input: PipelineInput, name: string) =>
    find(input, 'ScaledObject', name)?.triggers.map(({ metadata: { topic, consumerGroup } }) => `${topic} of ${consumerGroup}`)
  const bridge = { autoscaling: { maxReplicas: 6, keda: true } }
  const lagged = withSpec(distributed, { bridge, bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed', topicPrefix: '' } })
  const ETL = 'raw-logs of logpipeline-bridge-etl'
  const SCORE = 'enriched-logs of logpipeline-bridge-anomaly'
  const INDEX = 'enriched-logs of logpipeline-bridge-indexer'

  it('of a collector that names no least number keep its floor of two, and its disruption budget', () => {
    const floor = (autoscaling: NonNullable<LogPipelineSpec['collector']>['autoscaling'] & object) => {
      const input = withSpec(distributed, { collector: { autoscaling } })
      const hasBudget = find(input, 'PodDisruptionBudget', 'shop-collector') !== undefined
      return [find(input, 'HorizontalPodAutoscaler', 'shop-collector')!.minReplicas, replicasOf(input, 'shop-collector'), hasBudget]
    }
    expect(floor({ maxReplicas: 10 })).to.deep.equal([2, 2, true])
    expect(floor({ minReplicas: 1, maxReplicas: 10 })).to.deep.equal([1, 1, false])
    expect(floor({ maxReplicas: 1 })).to.deep.equal([1, 1, false])
  })

  it('scale the bridge by what its own threads have to read', () => {
    expect(lags(lagged, 'shop-bridge')).to.deep.equal([ETL, SCORE, INDEX])
    expect(lags(lagged, 'shop-stream-etl')).to.equal(undefined)
  })

  it('scale each by its own work where stream jobs run: the bridge by none of theirs', () => {
    const streaming = withSpec(lagged, { stream: { enabled: true } })
    expect(lags(streaming, 'shop-bridge')).to.deep.equal([INDEX])
    expect(lags(streaming, 'shop-stream-etl')).to.deep.equal([ETL])
    expect(lags(streaming, 'shop-stream-score')).to.deep.equal([SCORE])
    expect(find(streaming, 'ScaledObject', 'shop-stream-etl')).to.include({ minReplicaCount: 1, maxReplicaCount: 6 })
  })

  it('leave stream jobs alone whose number is fixed, and have numbers of their own where they are given', () => {
    const fixed = withSpec(lagged, { stream: { enabled: true, replicas: 2 } })
    expect(lags(fixed, 'shop-stream-etl')).to.equal(undefined)
    expect(lags(fixed, 'shop-bridge')).to.deep.equal([INDEX])
    const own = withSpec(distributed, { stream: { enabled: true, autoscaling: { minReplicas: 2, maxReplicas: 4, keda: true } } })
    expect(find(own, 'ScaledObject', 'shop-stream-score')).to.include({ minReplicaCount: 2, maxReplicaCount: 4 })
    expect(find(own, 'PodDisruptionBudget', 'shop-stream-score')).not.to.equal(undefined)
    expect(lags(own, 'shop-bridge')).to.equal(undefined)
    const byCpu = withSpec(distributed, { stream: { enabled: true, autoscaling: { maxReplicas: 4 } } })
    expect(find(byCpu, 'HorizontalPodAutoscaler', 'shop-stream-etl')!.minReplicas).to.equal(1)
  })
})

describe('what is not there', () => {
  const namesOf = (input: PipelineInput, kind: string) =>
    buildPipeline(input)
      .filter(object => object.kind === kind)
      .map(({ metadata }) => metadata.name)
  const heldOf = (input: PipelineInput) => planOf(input).held.map(({ kind, name }) => `${kind} ${name}`)

  it('a Secret: its users are neither made nor removed, the others are made', () => {
    const input = changed(distributed, { secrets: {} })
    expect(namesOf(input, 'Deployment')).to.deep.equal(['shop-collector'])
    expect(heldOf(input)).to.deep.equal(['Deployment shop-bridge', 'Deployment shop-ticketing', 'Deployment shop-agent'])
    expect(namesOf(input, 'Service')).to.include('shop-bridge')
    expect(heldOf(distributed)).to.deep.equal([])
  })

  it('the Secret of an online store that nobody uses: nobody waits', () => {
    const features = { enabled: false, onlineStore: { credentials: { secret: { name: 'none' } } } }
    expect(heldOf(withSpec(distributed, { features }))).to.deep.equal([])
  })

  it('the address of the bus: all that speak to it wait', () => {
    const { kafka: _, ...gathered } = everything.gathered
    const input = { ...everything, gathered }
    const others = ['gateway', 'ticketing', 'dashboard', 'features', 'scheduler'].map(component => `shop-${component}`)
    expect(namesOf(input, 'Deployment')).to.deep.equal(others)
    expect(heldOf(input)).to.include.members(['Deployment shop-collector', 'ScaledObject shop-bridge'])
  })

  it('the Secret of a route: only the route is left out', () => {
    const { pager: _, ...secrets } = everything.gathered.secrets
    const input = changed(everything, { secrets })
    const config = buildPipeline(input).find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'shop-ticketing')
    expect(JSON.stringify(config)).not.to.include('pagerduty')
    expect(JSON.stringify(config)).to.include('jira')
    expect(heldOf(input)).to.deep.equal([])
  })

  it('the CRDs of Prometheus, KEDA and Strimzi: their objects are not made', () => {
    const kinds = new Set(buildPipeline(changed(everything, { servedApis: { 'Kafka.kafka.strimzi.io': 'v1' } })).map(({ kind }) => kind))
    for (const kind of ['ServiceMonitor', 'PrometheusRule', 'ScaledObject', 'KafkaTopic']) expect(kinds.has(kind), kind).to.equal(false)
  })

  it('a newer version of their API: the version that is served is used', () => {
    const servedApis = { ...everything.gathered.servedApis, 'KafkaTopic.kafka.strimzi.io': 'v1' }
    const topic = buildPipeline(changed(everything, { servedApis })).find(({ kind }) => kind === 'KafkaTopic')
    expect(topic!.apiVersion).to.equal('kafka.strimzi.io/v1')
  })
})

describe('network policies', () => {
  it('let the operator ask those that speak to the bus what they lack, and ticketing what it sent, where its namespace is known', () => {
    const mayAsk = (namespace?: string) => {
      const settings = { ...distributed.settings, ...(namespace !== undefined && { namespace }) }
      const policies = buildPipeline({ ...distributed, settings }).filter(({ kind }) => kind === 'NetworkPolicy')
      const allowing = policies.filter(policy => JSON.stringify(policy).includes('{"kubernetes.io/metadata.name":"operators"}'))
      return allowing.map(({ metadata }) => metadata.name)
    }
    expect(mayAsk('operators')).to.deep.equal(['shop-collector', 'shop-bridge', 'shop-ticketing'])
    expect(mayAsk()).to.deep.equal([])
  })
})

describe('the way of authentication at the brokers', () => {
  it('may be written as Kafka writes it', () => {
    const { bus } = everything.gathered.pipeline.spec
    const asWritten = (mechanism: 'SCRAM-SHA-256' | 'scram-sha-256') =>
      buildPipeline(withSpec(everything, { bus: { ...bus!, sasl: { ...bus!.sasl!, mechanism } } }))
    expect(asWritten('SCRAM-SHA-256')).to.deep.equal(asWritten('scram-sha-256'))
    expect(JSON.stringify(asWritten('SCRAM-SHA-256'))).to.contain('"sasl":"scram_sha256"')
  })
})

describe('an online store that asks for a password', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'store', namespace: 'observability' } } as const
  const withStore = (data: Readonly<Record<string, string>>) => {
    const onlineStore = { url: 'redis://valkey:6379', credentials: { secret: { name: 'store' } } }
    const secrets = { ...everything.gathered.secrets, store: { ...secret, data } }
    return changed(withSpec(everything, { features: { enabled: true, onlineStore } }), { secrets })
  }
  const settingsOf = (input: PipelineInput) =>
    Object.fromEntries(
      containerOf(workloadOf(buildPipeline(input), 'shop-features'))
        .env!.filter(({ name }) => name.startsWith('ONLINE_STORE'))
        .map(({ name, value }) => [name, value]),
    )
  const password = { password: btoa('geheim') }

  it('is reached by its address, with what the Secret holds', () => {
    const files = {
      ONLINE_STORE_URL: 'redis://valkey:6379',
      ONLINE_STORE_PASSWORD_FILE: '/etc/logpipeline/settings/ONLINE_STORE_PASSWORD',
    }
    expect(settingsOf(withStore(password))).to.deep.equal(files)
    const ONLINE_STORE_USERNAME_FILE = '/etc/logpipeline/settings/ONLINE_STORE_USERNAME'
    expect(settingsOf(withStore({ ...password, username: btoa('reader') }))).to.deep.equal({ ...files, ONLINE_STORE_USERNAME_FILE })
  })

  it('holds its readers back while the Secret lacks the password', () => {
    const { held } = planOf(withStore({ url: btoa('redis://valkey') }))
    expect(held.map(({ name }) => name)).to.include.members(['shop-features', 'shop-scheduler', 'shop-bridge', 'shop-stream-etl'])
  })
})

describe('alerts', () => {
  interface Rules {
    readonly groups: readonly [{ readonly rules: readonly { readonly expr: string }[] }]
  }
  const selectorsOf = (input: PipelineInput) => {
    const rule = buildPipeline(input).find(({ kind }) => kind === 'PrometheusRule') as unknown as { readonly spec: Rules }
    const texts = rule.spec.groups[0].rules.flatMap(({ expr }) => [...expr.matchAll(/service=~"([^"]+)"/g)].map(([, text]) => text!))
    return texts.map(text => new RegExp(`^(?:${text})$`))
  }
  const scraped = (input: PipelineInput): readonly string[] => {
    const services = buildPipeline(input).filter(({ kind }) => kind === 'Service') as unknown as readonly ServiceView[]
    return services
      .filter(({ spec }) => spec.ports.some(({ name }) => ['http', 'health'].includes(name)))
      .map(({ metadata }) => metadata.name)
  }
  interface ServiceView {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly ports: readonly { readonly name: string }[] }
  }
  const called = (input: PipelineInput, name: string) => {
    const { pipeline } = input.gathered
    return changed(input, { pipeline: { ...pipeline, metadata: { ...pipeline.metadata, name } } })
  }
  const allInOne = withSpec(readFixture('all-in-one'), { monitoring: { rules: true } })
  const watched = changed(allInOne, { servedApis: everything.gathered.servedApis })

  for (const [title, input] of [
    ['Distributed', everything],
    ['AllInOne', watched],
  ] as const)
    it(`of mode ${title} speak of all metrics of the pipeline, and of no other whose name goes on from its own`, () => {
      const selectors = selectorsOf(input)
      const { name } = input.gathered.pipeline.metadata
      const others = scraped(called(input, `${name}-eu`))
      expect(selectors).to.have.length.above(3)
      for (const selector of selectors) {
        expect(scraped(input).filter(service => !selector.test(service))).to.deep.equal([])
        expect(others.filter(service => selector.test(service))).to.deep.equal([])
      }
    })
})

describe('parts that can be switched off', () => {
  it('network policies', () => {
    const objects = buildPipeline(withSpec(distributed, { networkPolicy: { enabled: false } }))
    expect(objects.filter(({ kind }) => kind === 'NetworkPolicy')).to.deep.equal([])
  })

  it('the agent, with its rights', () => {
    const objects = buildPipeline(withSpec(distributed, { agent: { enabled: false } }))
    expect(objects.filter(({ metadata }) => metadata.name === 'shop-agent')).to.deep.equal([])
    expect(objects.filter(({ kind }) => kind === 'Role')).to.deep.equal([])
  })

  it('managed topics', () => {
    const { bus } = everything.gathered.pipeline.spec
    const objects = buildPipeline(withSpec(everything, { bus: { ...bus!, topics: 'Existing' } }))
    expect(objects.filter(({ kind }) => kind === 'KafkaTopic')).to.deep.equal([])
  })
})

describe('topics that Strimzi has', () => {
  const topicsOf = (input: PipelineInput) => {
    const topics = buildPipeline(input).filter(({ kind }) => kind === 'KafkaTopic')
    return topics.map(({ metadata, ['spec']: spec }) => [metadata.name, (spec as { readonly topicName: string }).topicName] as const)
  }
  const live = (input: PipelineInput) =>
    changed(input, { topics: [...input.gathered.topics, ...buildPipeline(input).filter(({ kind }) => kind === 'KafkaTopic')] })
  const { bus } = everything.gathered.pipeline.spec
  const withBus = (input: PipelineInput, change: Partial<NonNullable<LogPipelineSpec['bus']>>) =>
    withSpec(input, { bus: { ...bus!, ...change } })
  const keptOf = (input: PipelineInput) =>
    planOf(input)
      .held.filter(({ kind }) => kind === 'KafkaTopic')
      .map(({ name }) => name)
  const running = live(withBus(changed(everything, { topics: [] }), { topicPrefix: 'old.' }))
  const names = topicsOf(running).map(([name]) => name)

  it('stay, with the records in them, when they are no longer managed, and when the pipeline leaves Strimzi or Kafka', () => {
    expect(names).to.have.length(4)
    expect(keptOf(running)).to.deep.equal([])
    const { strimzi: _, ...others } = bus!
    const left = [
      withBus(running, { topics: 'Existing' }),
      withSpec(running, { bus: { ...others, bootstrapServers: ['kafka:9092'] } }),
      changed(running, { pipeline: { ...running.gathered.pipeline, spec: readFixture('all-in-one').gathered.pipeline.spec } }),
    ]
    for (const input of left) expect([topicsOf(input), keptOf(input)]).to.deep.equal([[], names])
  })

  it('keep their names; with another prefix there are others beside them, since Strimzi changes the name of none', () => {
    expect(topicsOf(running)).to.deep.equal(topicsOf(live(running)))
    const moved = withBus(running, { topicPrefix: 'new.' })
    expect(keptOf(moved)).to.deep.equal(names)
    const after = topicsOf(moved)
    expect(after.map(([, topicName]) => topicName)).to.deep.equal(
      topicsOf(running).map(([, topicName]) => topicName.replace('old.', 'new.')),
    )
    for (const [name] of after) expect(names).not.to.include(name)
    expect(topicsOf(live(moved)), 'once they are there').to.deep.equal(after)
    expect(topicsOf(withBus(live(moved), { topicPrefix: 'old.' })), 'back again').to.deep.equal(topicsOf(running))
  })
})

describe('requests that the resource does not give', () => {
  const resourcesOf = (resources: NonNullable<LogPipelineSpec['collector']>['resources']) => {
    const input = withSpec(distributed, { collector: resources === undefined ? {} : { resources } })
    return podOf(workloadOf(buildPipeline(input), 'shop-collector')).containers[0]!.resources
  }

  it('are at most the limits, since a pod with more would be refused', () => {
    const limits = { cpu: '100m', memory: '256Mi' }
    expect(resourcesOf({ limits })).to.deep.equal({ requests: limits, limits })
    expect(resourcesOf({ limits: { memory: 300_000_000 } })?.requests).to.deep.equal({ cpu: '250m', memory: '300000000' })
    expect(resourcesOf({ limits: { cpu: 2, memory: '1Gi' } })?.requests).to.deep.equal({ cpu: '250m', memory: '384Mi' })
  })
})

describe('ids of the pods', () => {
  const contexts = (input: PipelineInput, securityContext?: object) => {
    const changedInput = securityContext === undefined ? input : withSpec(input, { podTemplate: { securityContext } })
    return workloadsOf(buildPipeline(changedInput)).map(workload => podOf(workload).securityContext)
  }
  const RESTRICTED = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  const allInOne = readFixture('all-in-one')

  it('are those of the image, and the volume of mode AllInOne has its group', () => {
    expect(contexts(allInOne)).to.deep.equal([{ ...RESTRICTED, fsGroup: 65_532, fsGroupChangePolicy: 'OnRootMismatch' }])
    for (const context of contexts(distributed)) expect(context).to.deep.equal(RESTRICTED)
  })

  it('are left to the cluster where the resource says so', () => expect(contexts(allInOne, {})).to.deep.equal([RESTRICTED]))

  it('have the volume of mode AllInOne where the resource names a user and no group of the volume', () => {
    expect(contexts(allInOne, { runAsUser: 1000 })).to.deep.equal([
      { ...RESTRICTED, runAsUser: 1000, fsGroup: 1000, fsGroupChangePolicy: 'OnRootMismatch' },
    ])
    for (const context of contexts(distributed, { runAsUser: 1000 })) expect(context).to.deep.equal({ ...RESTRICTED, runAsUser: 1000 })
  })

  it('are what the resource says', () => {
    const given = { runAsUser: 1000, runAsGroup: 0, fsGroup: 2000, supplementalGroups: [3000] }
    for (const context of [...contexts(allInOne, given), ...contexts(distributed, given)])
      expect(context).to.deep.equal({ ...RESTRICTED, ...given, fsGroupChangePolicy: 'OnRootMismatch' })
  })
})

describe('the pod template of the resource', () => {
  const secrets = {
    ...distributed.gathered.secrets,
    mine: { ...everything.gathered.secrets['authority']!, data: { a: 'MQ==', b: 'Mg==' } },
  }
  const withTemplate = (podTemplate: NonNullable<LogPipelineSpec['podTemplate']>) =>
    changed(withSpec(distributed, { podTemplate }), { secrets })
  const everyPod = Object.keys(hashes(distributed))

  it('rolls every pod where a Secret that it names changes, and none where another key of it does', () => {
    const key = withTemplate({ env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'mine', key: 'a' } } }] })
    expect(rolled(key, secretChanged(key, 'mine', { b: 'OQ==' }))).to.deep.equal([])
    const whole = [
      withTemplate({ envFrom: [{ secretRef: { name: 'mine' } }] }),
      withTemplate({ volumes: [{ name: 'mine', mountPath: '/etc/mine', secret: { name: 'mine' } }] }),
    ]
    for (const input of [key, ...whole]) expect(rolled(input, secretChanged(input, 'mine', { a: 'OQ==' }))).to.deep.equal(everyPod)
    for (const input of whole) expect(rolled(input, secretChanged(input, 'mine', { c: 'OQ==' }))).to.deep.equal(everyPod)
  })

  it('holds every pod back while a Secret that it names is missing', () => {
    const { objects, held } = planOf(withTemplate({ envFrom: [{ secretRef: { name: 'nobody' } }] }))
    expect(workloadsOf(objects)).to.deep.equal([])
    expect(held.filter(({ kind }) => kind === 'Deployment').map(({ name }) => name)).to.have.members(everyPod)
  })

  it('with no constraints leaves the spread to the scheduler', () => {
    for (const workload of workloadsOf(buildPipeline(withTemplate({ topologySpreadConstraints: [] }))))
      expect(podOf(workload).topologySpreadConstraints).to.deep.equal([])
  })
})

describe('a name at its length limit', () => {
  it('gives names that are DNS labels still', () => {
    const name = 'a'.repeat(50)
    const { pipeline } = everything.gathered
    const input = changed(everything, { pipeline: { ...pipeline, metadata: { ...pipeline.metadata, name } } })
    for (const { kind, metadata } of buildPipeline(input))
      expect(metadata.name.length, `${kind} ${metadata.name}`).to.be.at.most(kind === 'KafkaTopic' ? 253 : 63)
  })
})

describe('what the status says of the objects', () => {
  it('addresses within the cluster, and the pods that the scale subresource counts', () => {
    const { endpoints, selector } = planOf(distributed).facts
    expect(endpoints).to.deep.equal({
      otlpGrpc: 'shop-collector.observability.svc:4317',
      otlpHttp: 'http://shop-collector.observability.svc:4318',
      bridge: 'http://shop-bridge.observability.svc:8080',
      ticketing: 'http://shop-ticketing.observability.svc:18081',
      agent: 'http://shop-agent.observability.svc:8080',
    })
    expect(selector).to.equal('app.kubernetes.io/name=logpipeline,app.kubernetes.io/instance=shop,app.kubernetes.io/component=bridge')
  })

  it('in mode AllInOne the same, by the same names', () => {
    const { endpoints } = planOf(readFixture('all-in-one')).facts
    expect(endpoints).to.include({
      otlpHttp: 'http://small-collector.default.svc:4318',
      agent: 'http://small-agent.default.svc:8080',
      search: 'http://small-search.default.svc:9200',
    })
  })
})
