import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RecordContexts } from './record-context.ts'

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const resourceOf = (pod: string) =>
  latin1(JSON.stringify({ attributes: [attribute('service.name', 'shop'), attribute('k8s.pod.name', pod.padEnd(400, '.'))] }))
const SCOPE = '{"name":"com.shop"}'

describe('contexts of records', () => {
  it('those of thousands of senders that come in turn are found again', () => {
    const contexts = new RecordContexts()
    const pods = Array.from({ length: 5_000 }, (_, i) => resourceOf(`pod-${i}`))
    const first = pods.map(pod => contexts.find(pod, SCOPE, 'acme'))
    for (const [i, pod] of pods.entries()) expect(contexts.find(pod, SCOPE, 'acme')).to.equal(first[i])
  })

  it('the oldest are forgotten where all take too much memory, and made anew alike', () => {
    let timesForgotten = 0
    const contexts = new RecordContexts(() => timesForgotten++)
    const oldest = contexts.find(resourceOf('pod-0'), SCOPE, 'acme')!
    for (let i = 1; i < 15_000; i++) contexts.find(resourceOf(`pod-${i}`), SCOPE, 'acme')
    const again = contexts.find(resourceOf('pod-0'), SCOPE, 'acme')!
    expect(again).to.not.equal(oldest)
    expect(timesForgotten).to.be.within(1, 100)
    expect(again.digests).to.deep.equal(oldest.digests)
    expect(again.topLevel).to.deep.equal(oldest.topLevel)
    expect(contexts.find(resourceOf('pod-14999'), SCOPE, 'acme')).to.equal(contexts.find(resourceOf('pod-14999'), SCOPE, 'acme'))
  })

  it('senders with the same keys have values, tenants and scopes of their own', () => {
    const contexts = new RecordContexts()
    const [one, other] = ['café', 'two'].map(pod => contexts.find(resourceOf(pod), SCOPE, 'acme')!)
    expect(Buffer.from(one!.topLevel).toString()).to.contain('"k8s.pod.name":"café.')
    expect(Buffer.from(other!.topLevel).toString()).to.contain('"k8s.pod.name":"two.')
    expect(one!.digests).to.not.deep.equal(other!.digests)
    expect(contexts.find(resourceOf('two'), '{"name":"com.other"}', 'acme')!.digests).to.not.deep.equal(other!.digests)
    expect(contexts.find(resourceOf('two'), SCOPE, 'globex')!.busKey).to.equal('globex/shop')
    expect(other!.busKey).to.equal('acme/shop')
  })

  it('resource and scope are there as objects, the same ones each time', () => {
    const context = new RecordContexts().find(resourceOf('café'), SCOPE, 'acme')!
    const { resource, scope } = context.parsed()
    expect(resource?.attributes?.[1]?.value?.stringValue).to.match(/^café\.+$/)
    expect(scope?.name).to.equal('com.shop')
    expect(context.parsed().resource).to.equal(resource)
    expect(new RecordContexts().find('', '', 'acme')!.parsed()).to.deep.equal({ resource: undefined, scope: undefined })
  })

  it('there is none for a resource or scope that is not as OTLP has it', () => {
    const contexts = new RecordContexts()
    expect(contexts.find('{"attributes":7}', SCOPE, 'acme')).to.equal(undefined)
    expect(contexts.find(resourceOf('one'), '{"name":7}', 'acme')).to.equal(undefined)
  })
})
