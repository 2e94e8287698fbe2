import { expect } from 'chai'
import { describe, it } from 'mocha'
import { contextAt, type RecordContext, RecordContexts } from './record-context.ts'

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const resourceOf = (pod: string, key = 'k8s.pod.name') =>
  latin1(JSON.stringify({ attributes: [attribute('service.name', 'shop'), attribute(key, pod.padEnd(400, '.'))] }))
const SCOPE = '{"name":"com.shop"}'

/** The parts of the bytes that records share. */
function partsOf({ shared }: RecordContext) {
  const { memory, start, digestsEnd, fieldsEnd, flattenedEnd, topLevelEnd, foldedEnd } = shared
  const [digests, fields, flattened, topLevel, folded] = [0, digestsEnd, fieldsEnd, flattenedEnd, topLevelEnd].map((from, i) =>
    memory.toString('utf8', start + from, start + [digestsEnd, fieldsEnd, flattenedEnd, topLevelEnd, foldedEnd][i]!),
  )
  return { digests, fields, flattened, topLevel, folded }
}

describe('contexts of records', () => {
  it('hold the digests and members of resource and scope', () => {
    const resource = latin1(JSON.stringify({ attributes: [attribute('service.name', 'café'), attribute('level', 'é')] }))
    const { digests, ...members } = partsOf(new RecordContexts().make(resource, SCOPE, 'acme')!)
    expect(digests).to.match(/^:[0-9a-f]{40},[0-9a-f]{40},$/)
    expect(members).to.deep.equal({
      fields: ',"tenant_id":"acme","service":"café"',
      flattened: ',"service_name":"café","otel_scope_name":"com.shop"',
      topLevel: ',"otel.scope.name":"com.shop"',
      folded: ',"service.name":"café","level":"é"',
    })
  })

  it('are the same ones for the same text, forgotten where all take too much memory, and made anew alike', () => {
    const contexts = new RecordContexts()
    const oldest = contexts.find(resourceOf('pod-0'), SCOPE, 'acme')!
    for (let i = 1; i < 10_000; i++) contexts.find(resourceOf(`pod-${i}`), SCOPE, 'acme')
    const again = contexts.find(resourceOf('pod-0'), SCOPE, 'acme')!
    expect(again).to.not.equal(oldest)
    expect(partsOf(again)).to.deep.equal(partsOf(oldest))
    expect(contexts.find(resourceOf('pod-9999'), SCOPE, 'acme')).to.equal(contexts.find(resourceOf('pod-9999'), SCOPE, 'acme'))
  })

  it('of senders with the same keys have values, tenants and scopes of their own', () => {
    const contexts = new RecordContexts()
    const [one, other] = ['café', 'two'].map(pod => contexts.make(resourceOf(pod), SCOPE, 'acme')!)
    expect(partsOf(one!).topLevel).to.contain('"k8s.pod.name":"café.')
    expect(partsOf(other!).topLevel).to.contain('"k8s.pod.name":"two.')
    expect(partsOf(one!).digests).to.not.equal(partsOf(other!).digests)
    expect(partsOf(contexts.make(resourceOf('two'), '{"name":"com.other"}', 'acme')!).digests).to.not.equal(partsOf(other!).digests)
    expect(contexts.make(resourceOf('two'), SCOPE, 'globex')!.sender).to.include({ tenant: 'globex', busKey: 'globex/shop' })
    expect(one!.sender).to.include({ tenant: 'acme', service: 'shop', busKey: 'acme/shop' }).and.to.equal(other!.sender)
  })

  it('count the memory of keys that no other has', () => {
    const contexts = new RecordContexts()
    const heldBytes = (key: string) => contexts.make(resourceOf('pod', key), SCOPE, 'acme')!.heldBytes
    const [first, second, otherKeys] = [heldBytes('a'), heldBytes('a'), heldBytes('b')]
    expect(first).to.be.above(second!)
    expect(otherKeys).to.equal(first)
  })

  it('may lie elsewhere', () => {
    const context = new RecordContexts().make(resourceOf('one'), SCOPE, 'acme')!
    const { memory, start, foldedEnd } = context.shared
    const moved = contextAt(context, Buffer.concat([Buffer.from('before'), memory.subarray(start, start + foldedEnd)]), 6)
    expect(partsOf(moved)).to.deep.equal(partsOf(context))
    expect(moved.sender).to.equal(context.sender)
  })

  it('are not there for a resource or scope that is not as OTLP has it', () => {
    const contexts = new RecordContexts()
    expect(contexts.find('{"attributes":7}', SCOPE, 'acme')).to.equal(undefined)
    expect(contexts.find(resourceOf('one'), '{"name":7}', 'acme')).to.equal(undefined)
    expect(partsOf(contexts.make('', '', 'acme')!).fields).to.equal(',"tenant_id":"acme","service":"unknown_service"')
  })
})
