import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { findSharers, topicsKeys } from './shared-topics.ts'
import { gatheredFrom } from './testing/gathered-from.ts'
import { DISTRIBUTED, messageOf, pipelineObject, running, SETTLED, SPEC, stalled, statusOf, summary } from './testing/status-of.ts'

const OLD = { creationTimestamp: '2026-01-01T00:00:00Z' }
const YOUNG = { creationTimestamp: '2026-02-01T00:00:00Z' }

function pipeline(namespace: string, name: string, bus: object, metadata: object = YOUNG): LogPipeline {
  return gatheredFrom([pipelineObject({ ...SPEC, bus: { topicPrefix: 'p.', ...bus } }, { namespace, name, ...metadata })]).pipeline
}
const on = (...bootstrapServers: readonly string[]) => ({ bootstrapServers })

/** `service.namespace` of the Services that there are. */
function share(a: LogPipeline, b: LogPipeline, services: readonly string[] = []): boolean {
  const hasService = (namespace: string, name: string) => services.includes(`${name}.${namespace}`)
  const found = findSharers(a, [a, b], hasService)
  const areFound = topicsKeys(a).some(key => topicsKeys(b).includes(key))
  expect(areFound || found.length === 0, 'found by their keys').to.equal(true)
  expect(findSharers(b, [a, b], hasService)).to.have.length(found.length)
  return found.length > 0
}

describe('Two LogPipelines share their topics', () => {
  const CASES: readonly (readonly [
    title: string,
    a: readonly [namespace: string, bus: object],
    b: readonly [namespace: string, bus: object],
    services?: readonly string[],
  ])[] = [
    ['with one address of several in common', ['a', on('k1.example.com:9092', 'k2.example.com:9092')], ['b', on('k2.example.com:9092')]],
    ['in one namespace, by a name within it', ['a', on('kafka:9092')], ['a', on('kafka:9092')]],
    ['by the short and the long name of a Service', ['a', on('kafka:9092')], ['b', on('kafka.a.svc.cluster.local:9092')]],
    ['by the name with the namespace', ['b', on('kafka.a:9092')], ['c', on('kafka.a.svc:9092')]],
    ['on two listeners of one Service', ['a', on('kafka:9092')], ['b', on('kafka.a:9093')]],
    ['by the names of pods within a namespace', ['a', on('kafka-0.kafka:9092')], ['a', on('kafka-0.kafka.a.svc:9092')], ['kafka.a']],
    [
      'of one Strimzi cluster',
      ['a', { strimzi: { cluster: 'k', listener: 'tls' } }],
      ['a', { strimzi: { cluster: 'k', listener: 'plain' } }],
    ],
    ['of a Strimzi cluster and its address', ['a', { strimzi: { cluster: 'k' } }], ['b', on('k-kafka-bootstrap.a.svc:9093')]],
    ['by an IPv6 address', ['a', on('[fd00::1]:9092')], ['b', on('[FD00::1]:9092')]],
  ]
  for (const [title, [nsA, a], [nsB, b], services] of CASES)
    it(title, () => expect(share(pipeline(nsA, 'one', a), pipeline(nsB, 'two', b), services)).to.equal(true))
})

describe('Two LogPipelines do not share their topics', () => {
  it('with other prefixes, on other brokers, or in mode AllInOne', () => {
    const one = pipeline('a', 'one', on('kafka.example.com:9092'))
    expect(share(one, pipeline('b', 'two', { ...on('kafka.example.com:9092'), topicPrefix: 'q.' }))).to.equal(false)
    expect(share(one, pipeline('b', 'two', on('other.example.com:9092')))).to.equal(false)
    expect(share(one, gatheredFrom([pipelineObject({ mode: 'AllInOne' }, { name: 'two' })]).pipeline)).to.equal(false)
  })

  it('by one short name in two namespaces, nor by names of pods that each has', () => {
    expect(share(pipeline('a', 'one', on('kafka:9092')), pipeline('b', 'two', on('kafka:9092')))).to.equal(false)
    const pods = on('kafka-0.kafka:9092')
    expect(share(pipeline('a', 'one', pods), pipeline('b', 'two', pods), ['kafka.a', 'kafka.b'])).to.equal(false)
  })

  it('on two ports of one machine', () => {
    expect(share(pipeline('a', 'one', on('10.0.0.1:9092')), pipeline('b', 'two', on('10.0.0.1:9093')))).to.equal(false)
  })

  it('by default: prefixes of their own are made of namespace and name', () => {
    const bus = on('kafka.k:9092')
    const made = (namespace: string, name: string) => gatheredFrom([pipelineObject({ ...SPEC, bus }, { namespace, name })]).pipeline
    expect(share(made('a', 'shop'), made('b', 'shop'))).to.equal(false)
  })

  it('when the other is being deleted', () => {
    const going = pipeline('b', 'two', on('kafka.a:9092'), { deletionTimestamp: '2026-02-01T00:00:00Z' })
    expect(findSharers(pipeline('a', 'one', on('kafka:9092')), [going], () => false)).to.deep.equal([])
  })
})

describe('the status of a LogPipeline whose topics another uses', () => {
  const bus = on('kafka.k:9092')
  const own = pipelineObject({ ...SPEC, bus: { ...bus, topicPrefix: 'p.' } }, { creationTimestamp: '2026-01-15T00:00:00Z' })
  const statusBeside = (...others: readonly LogPipeline[]) => {
    const { pipeline } = gatheredFrom([own])
    return statusOf([own, ...running(DISTRIBUTED)], { sharers: findSharers(pipeline, others, () => false) })
  }

  it('names it: the younger one has to move', () => {
    const status = statusBeside(pipeline('other', 'old', bus, OLD))
    expect(summary(status)).to.include({ ...stalled('SharedTopics'), TopicsExclusive: 'False SharedTopics' })
    expect(messageOf(status, 'TopicsExclusive')).to.equal(
      'spec.bus.topicPrefix: expected topics that no other pipeline uses, seen p.raw-logs and others that the older LogPipeline other/old uses on the same Kafka: each takes records of the other',
    )
  })

  it('names it: the older one stays Ready, as its neighbour has to move', () => {
    const status = statusBeside(pipeline('other', 'young', bus), pipeline('other', 'younger', bus))
    expect(summary(status)).to.include({ Ready: 'True Ready', ...SETTLED, TopicsExclusive: 'False SharedTopics' })
    expect(messageOf(status, 'TopicsExclusive')).to.contain('the younger LogPipelines other/young, other/younger use')
  })

  it('names the first five of many', () => {
    const many = Array.from({ length: 7 }, (_, n) => pipeline('other', `young-${n}`, bus))
    expect(messageOf(statusBeside(...many), 'TopicsExclusive'))
      .to.contain('other/young-4 … use on')
      .and.not.contain('young-5')
  })

  it('is well without one', () => {
    expect(summary(statusBeside())).to.include({ Ready: 'True Ready', TopicsExclusive: 'True Exclusive' })
    expect(summary(statusOf([pipelineObject({ mode: 'AllInOne', tenant: 'shop' })]))).not.to.have.property('TopicsExclusive')
  })
})
