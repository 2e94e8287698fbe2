import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { MAX_BUS_MESSAGE_BYTES, MAX_PART_BYTES } from '../contract/topics.ts'
import { canonicalFields } from '../domain/records/canonical-fields.ts'
import { flattenAttributes, flattenKey } from '../domain/records/flatten.ts'
import { cutFragments, joinFragments } from '../otlp/fragments.ts'
import { acceptJson } from '../otlp/json/accept-json.ts'
import { OversizedPayload } from '../otlp/malformed.ts'
import type { KeyValue } from '../otlp/payload.ts'
import { transcodeProtobuf } from '../otlp/protobuf/transcode-protobuf.ts'
import { allSteps } from '../otlp/steps.ts'
import { encodeMessage } from '../otlp/testing/logs-proto.ts'
import type { LocalExport, Transport } from '../otlp-intake/local-collector.ts'
import { block } from '../testing/hostile/wire-writer.ts'
import { rounds } from '../testing/rounds.ts'
import { DROPPED_BY_DASHBOARD, DROPPED_BY_GATEWAY, type Injection } from './attribute-names.ts'
import { injectJson, injectJsonSteps } from './inject-json.ts'
import { injectProtobuf } from './inject-protobuf.ts'
import { injectTenant } from './inject-tenant.ts'
import { localExport } from './tenant-layout.ts'

const AS_GATEWAY = { tenant: 'acme', dropped: DROPPED_BY_GATEWAY }
const OPTIONS = { observedTimeUnixNano: '1' }

interface Resource {
  readonly resource?: { readonly attributes?: readonly KeyValue[] }
  readonly scopeLogs?: readonly { readonly logRecords?: readonly { readonly attributes?: readonly KeyValue[] }[] }[]
}

/** Whose the records are, by the collector and by ETL, and what else became of a payload. */
function readAs(layout: ReturnType<typeof acceptJson>, payload: { readonly resourceLogs?: readonly Resource[] }) {
  for (const { tenantId } of layout.resources) expect(tenantId).to.equal('acme')
  for (const { resource, scopeLogs = [] } of payload.resourceLogs ?? [])
    for (const { attributes } of scopeLogs.flatMap(({ logRecords = [] }) => logRecords)) {
      const [ofResource, ofRecord] = [flattenAttributes(resource?.attributes), flattenAttributes(attributes)]
      const fields = canonicalFields(ofResource, ofRecord, 'default')
      expect([fields.tenant_id, fields.batch_id]).to.deep.equal(['acme', undefined])
      expect([...ofResource.keys()].filter(key => flattenKey(key) === 'tenant_id')).to.deep.equal(['tenant_id'])
    }
}

function checkJson(text: string): string {
  checkLocal('http_json', Buffer.from(text))
  const injected = injectJson(Buffer.from(text), AS_GATEWAY)
  readAs(acceptJson(injected, OPTIONS), JSON.parse(injected.toString()))
  const withRests = allSteps(injectJsonSteps(Buffer.from(text), AS_GATEWAY, MAX_PART_BYTES))
  readAs(acceptJson(withRests, OPTIONS), JSON.parse(withRests.toString()))
  return injected.toString()
}

function checkProtobuf(wire: Buffer): void {
  checkLocal('http_protobuf', Buffer.from(wire))
  const layout = transcodeProtobuf(injectProtobuf(wire, AS_GATEWAY), OPTIONS)
  readAs(layout, JSON.parse(Buffer.from(layout.text).toString()))
}

/** As in a standalone: the tenant goes in where the collector has found the parts. */
function checkLocal(transport: Transport, body: Buffer): void {
  const { body: changed, owner, arrange } = shortExport(transport, body, AS_GATEWAY)
  const found = transport === 'http_json' ? acceptJson(changed, OPTIONS) : transcodeProtobuf(changed, { ...OPTIONS, owner })
  const layout = arrange === undefined ? found : allSteps(arrange(found))
  for (const maxBytes of [1 << 20, 500]) {
    const { fragments, rejectedRecords } = cutFragments(layout, maxBytes)
    if (maxBytes > 500) expect(rejectedRecords).to.equal(0)
    for (const fragment of fragments) readAs(layout, JSON.parse(Buffer.from(joinFragments([fragment])).toString()))
  }
}

function shortExport(transport: Transport, body: Buffer, injection: Injection): LocalExport {
  const call = localExport({ transport, body, source: {} }, injection)
  if (call instanceof Promise) throw new Error('a short request is worked on in one go')
  return call
}

/** The payload of a request in protobuf, as the collector reads it. */
function payloadOf(wire: Uint8Array): unknown {
  return JSON.parse(Buffer.from(transcodeProtobuf(wire, OPTIONS).text).toString())
}

const text = (key: string, value = 'evil') => ({ key, value: { stringValue: value } })
const map = (key: string, ...entries: readonly object[]) => ({ key, value: { kvlistValue: { values: entries } } })
const MINE = text('tenant_id', 'acme')
const RECORD = { timeUnixNano: '1767225600000000001', body: { stringValue: 'hello' } }
const withResource = (...attributes: readonly object[]) => ({
  resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [RECORD] }] }],
})

describe('the tenant in a request', () => {
  it('is injected as a resource attribute, and nothing else changes', () => {
    const payload = withResource(text('service.name', 'cart'), text('host.name', 'a'))
    expect(JSON.parse(checkJson(JSON.stringify(payload)))).to.deep.equal(
      withResource(text('service.name', 'cart'), text('host.name', 'a'), MINE),
    )
    checkProtobuf(encodeMessage('ExportLogsServiceRequest', payload))
  })

  const payloads: Readonly<Record<string, object>> = {
    'no attributes': withResource(),
    'no resource': { resourceLogs: [{ scopeLogs: [{ logRecords: [RECORD] }] }] },
    'an empty resource': { resourceLogs: [{ resource: {}, scopeLogs: [{ logRecords: [RECORD] }] }] },
    'several resources': { resourceLogs: [...withResource().resourceLogs, ...withResource(text('tenant_id')).resourceLogs] },
    tenant_id: withResource(text('a'), text('tenant_id'), text('b')),
    'tenant.id': withResource(text('tenant.id')),
    'a nested tenant': withResource(map('tenant', text('id'), text('name'))),
    'two of them': withResource(text('tenant_id'), text('tenant_id', 'other')),
    'a value before its key': withResource({ value: { stringValue: 'evil' }, key: 'tenant_id' }),
    bytes: withResource({ key: 'tenant_id', value: { bytesValue: 'ZXZpbA==' } }),
    'a list': withResource({ key: 'tenant_id', value: { arrayValue: { values: [{ stringValue: 'evil' }] } } }),
    'maps without a name': withResource(map('', map('tenant', text('id')))),
    'names that look alike': withResource(text(' tenant_id '), text('Tenant_ID'), text('tenant-id'), text('tenant__id')),
    'a scope': {
      resourceLogs: [{ scopeLogs: [{ scope: { attributes: [text('tenant_id'), text('batch_id')] }, logRecords: [RECORD] }] }],
    },
    'a number': withResource({ key: 'tenant_id', value: { intValue: '5' } }),
    'no value': withResource({ key: 'tenant_id' }),
    'a batch': withResource(text('batch_id'), text('batch.id'), map('batch', text('id'))),
    'a record': {
      resourceLogs: [
        { resource: { attributes: [] }, scopeLogs: [{ logRecords: [{ ...RECORD, attributes: [text('tenant_id'), text('batch_id')] }] }] },
      ],
    },
    'empty lists': { resourceLogs: [{ scopeLogs: [] }, { scopeLogs: [{ logRecords: [] }] }] },
    'no records': { resourceLogs: [] },
  }
  for (const [name, payload] of Object.entries(payloads)) {
    it(`JSON: ${name}`, () => {
      checkJson(JSON.stringify(payload))
      checkJson(JSON.stringify(payload, undefined, 2))
      checkJson(JSON.stringify(payload).replaceAll('resourceLogs', 'resource_logs').replaceAll('scopeLogs', 'scope_logs'))
    })
    it(`protobuf: ${name}`, () => checkProtobuf(encodeMessage('ExportLogsServiceRequest', payload)))
  }

  const records = '"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"},"timeUnixNano":"1"}]}]'
  const spellings = {
    'an escaped key': `{"resourceLogs":[{"resource":{"attributes":[{"key":"ten\\u0061nt_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'escaped names': `{"resourceLog\\u0073":[{"resourc\\u0065":{"attribute\\u0073":[{"ke\\u0079":"tenant_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'null for a resource': `{"resourceLogs":[{"resource":null,${records}}]}`,
    'null for attributes': `{"resourceLogs":[{"resource":{"attributes":null},${records}}]}`,
    'two resources': `{"resourceLogs":[{"resource":{"attributes":[{"key":"tenant_id","value":{"stringValue":"evil"}}]},"resource":null,${records}}]}`,
    'null, and a resource': `{"resourceLogs":[{"resource":null,"resource":{"attributes":[{"key":"tenant_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'null, and attributes': `{"resourceLogs":[{"resource":{"attributes":null,"attributes":[{"key":"tenant_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'an escaped underscore': `{"resourceLogs":[{"resource":{"attributes":[{"key":"tenant\\u005fid","value":{"stringValue":"evil"}}]},${records}}]}`,
    'two lists': `{"resourceLogs":[{"resource":{"attributes":[],"attributes":[{"key":"tenant_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'two keys': `{"resourceLogs":[{"resource":{"attributes":[{"key":"a","key":"tenant_id","value":{"stringValue":"evil"}}]},${records}}]}`,
    'a key and null': `{"resourceLogs":[{"resource":{"attributes":[{"key":"tenant_id","key":null,"value":{"stringValue":"evil"}}]},${records}}]}`,
    'a resource behind the records': `{"resourceLogs":[{${records},"resource":{"attributes":[{"key":"tenant_id","value":{"stringValue":"evil"}}]}}]}`,
    'an escaped batch of a record': `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","attributes":[{"key":"b\\u0061tch_id","value":{"stringValue":"evil"}}]}]}]}]}`,
  }
  for (const [name, json] of Object.entries(spellings))
    it(`JSON with ${name}`, () => {
      const injected = injectJson(Buffer.from(json), AS_GATEWAY)
      const layout = acceptJson(injected, OPTIONS)
      expect(layout.resources.map(({ tenantId }) => tenantId)).to.deep.equal(['acme'])
      expect(injected.toString()).to.not.contain('evil')
      checkLocal('http_json', Buffer.from(json))
    })

  it('of the dashboard leaves the batch of an upload where it is', () => {
    const AS_DASHBOARD = { tenant: 'acme', dropped: DROPPED_BY_DASHBOARD }
    const payload = withResource(text('batch_id', 'b'), text('tenant.id'))
    expect(JSON.parse(injectJson(Buffer.from(JSON.stringify(payload)), AS_DASHBOARD).toString())).to.deep.equal(
      withResource(text('batch_id', 'b'), MINE),
    )
    const wire = injectProtobuf(encodeMessage('ExportLogsServiceRequest', payload), AS_DASHBOARD)
    expect(payloadOf(wire)).to.deep.equal(payloadOf(encodeMessage('ExportLogsServiceRequest', withResource(text('batch_id', 'b'), MINE))))
  })

  it('of two tenants that send the same bytes by turns is of each its own', () => {
    const wire = encodeMessage('ExportLogsServiceRequest', withResource(text('service.name', 'cart'), text('tenant_id')))
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) {
      const { body, owner } = shortExport('grpc', Buffer.from(wire), { tenant, dropped: DROPPED_BY_GATEWAY })
      const layout = transcodeProtobuf(body, { ...OPTIONS, owner })
      expect(layout.resources.map(({ tenantId, service }) => [tenantId, service])).to.deep.equal([[tenant, 'cart']])
      expect(JSON.parse(Buffer.from(layout.text).toString())).to.deep.equal(
        withResource(text('service.name', 'cart'), text('tenant_id', tenant)),
      )
    }
    const unchanged = transcodeProtobuf(wire, OPTIONS)
    expect(unchanged.resources.map(({ tenantId }) => tenantId)).to.deep.equal(['evil'])
  })

  it('of a door that drops more is not taken from one that drops less', () => {
    const wire = encodeMessage('ExportLogsServiceRequest', withResource(text('service.name', 'a'), text('batch.id', 'b')))
    const textAt = (dropped: typeof DROPPED_BY_GATEWAY) => {
      const { body, owner } = shortExport('http_protobuf', Buffer.from(wire), { tenant: 'acme', dropped })
      return Buffer.from(transcodeProtobuf(body, { ...OPTIONS, owner }).text).toString()
    }
    for (let i = 0; i < 2; i++) {
      expect(textAt(DROPPED_BY_DASHBOARD)).to.contain('batch.id')
      expect(textAt(DROPPED_BY_GATEWAY)).to.not.contain('batch.id')
    }
  })

  for (const body of [
    '',
    '[]',
    '{',
    '{"resourceLogs":{}}',
    '{"resourceLogs":[5]}',
    '{"resourceLogs":[{"resource":5}]}',
    '{"resourceLogs":[]} x',
    '{"a" 1}',
  ])
    it(`JSON that is no OTLP is refused in the collector's words: ${JSON.stringify(body)}`, () => {
      let expected = ''
      try {
        acceptJson(Buffer.from(body), OPTIONS)
      } catch (error) {
        expected = (error as Error).message
      }
      expect(() => injectJson(Buffer.from(body), AS_GATEWAY)).to.throw(expected)
    })

  it('protobuf: groups in unknown fields stay as they are, and one without end is refused', () => {
    const group = Buffer.from([0x7b, 0x7b, 0x08, 5, 0x7c, 0x7c])
    const wire = Buffer.concat([group, encodeMessage('ExportLogsServiceRequest', { resourceLogs: [{}] }), group])
    const injected = injectProtobuf(wire, AS_GATEWAY)
    expect([injected.subarray(0, 6), injected.subarray(-6)]).to.deep.equal([group, group])
    expect(transcodeProtobuf(injected, { observedTimeUnixNano: '1' }).text.toString()).to.contain('"acme"')
    expect(() => injectProtobuf(wire.subarray(0, -1), AS_GATEWAY)).to.throw('the end of a group')
  })

  it('protobuf that is none is refused', () => {
    expect(() => injectProtobuf(Buffer.from('hello'), AS_GATEWAY)).to.throw(/^request body: expected/)
    expect(() => injectProtobuf(Buffer.from([0x0a, 0x05, 0x0a, 0x02]), AS_GATEWAY)).to.throw(/^request body: expected/)
  })

  describe('in requests that are made to be slow', () => {
    const named = block(1, Buffer.from('batch'))
    const batch = Buffer.concat([Buffer.from([0x7a, 5]), Buffer.from('batch')])
    const isTooLarge = (run: () => unknown) => expect(run).to.throw(OversizedPayload)

    it('a million resources without records are refused before anything is written for them', () => {
      const ofRequest = Buffer.concat([Buffer.alloc(2_000_000, block(1, Buffer.alloc(0))), batch])
      isTooLarge(() => injectProtobuf(ofRequest, AS_GATEWAY))
      const ofResource = Buffer.concat([block(1, Buffer.alloc(2_000_000, block(1, Buffer.alloc(0)))), batch])
      isTooLarge(() => injectProtobuf(ofResource, AS_GATEWAY))
      isTooLarge(() => injectJson(Buffer.from(`{"a":"batch","resourceLogs":[${'{},'.repeat(1_000_000)}{}]}`), AS_GATEWAY))
    })

    it('an attribute with thousands of keys and of entries is looked at once', () => {
      const times = 4_000
      const entries = block(2, block(6, Buffer.alloc(times * 8, block(1, block(1, Buffer.from('name'))))))
      const attribute = Buffer.concat([Buffer.alloc(times * named.length, named), entries])
      const wire = block(1, block(2, block(2, block(6, attribute))))
      const json = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{${'"key":"batch",'.repeat(times)}"value":{"kvlistValue":{"values":[${'{"key":"name"},'.repeat(times)}{}]}}}]}]}]}]}`
      const startedMs = performance.now()
      injectProtobuf(wire, AS_GATEWAY)
      injectJson(Buffer.from(json), AS_GATEWAY)
      expect(performance.now() - startedMs).to.be.below(1_000)
    })

    const dropped = '{"attributes":[{"key":"batch_id","value":{"stringValue":"x"}}]}'
    const json = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${`${dropped},`.repeat(200_000)}${dropped}]}]}]}`)
    const record = block(2, block(6, block(1, Buffer.from('batch_id'))))
    const wire = block(1, block(2, Buffer.alloc(400_000 * record.length, record)))
    for (const [transport, body] of [['http_json', json] as const, ['grpc', wire] as const])
      it(`${transport}: others get their turns`, async () => {
        let longestMs = 0
        let lastMs = performance.now()
        const turns = setInterval(() => {
          longestMs = Math.max(longestMs, performance.now() - lastMs)
          lastMs = performance.now()
        }, 1)
        const startedMs = performance.now()
        await injectTenant(transport, body, AS_GATEWAY)
        clearInterval(turns)
        expect(longestMs).to.be.below((performance.now() - startedMs) / 3)
      }).timeout(20_000)

    it('parts that fit no message are left as they are', () => {
      const attributes = `[${`${JSON.stringify(text('a'))},`.repeat(MAX_PART_BYTES / 40)}${JSON.stringify(text('batch_id'))}]`
      const large = `{"resourceLogs":[{"resource":{"attributes":${attributes}},"scopeLogs":[{"logRecords":[{"attributes":${attributes}},${dropped}]}]}]}`
      const injected = allSteps(injectJsonSteps(Buffer.from(large), AS_GATEWAY, MAX_PART_BYTES))
      expect(injected.length).to.equal(large.length - dropped.length + '{"attributes":[]}'.length)
      expect(cutFragments(acceptJson(injected, OPTIONS), MAX_BUS_MESSAGE_BYTES)).to.deep.include({ fragments: [], rejectedRecords: 2 })
    })
  })

  const key = fc.constantFrom('tenant_id', 'tenant.id', 'tenant', 'id', 'batch_id', 'batch.id', 'batch', 'service.name', '', 'tenant_id ')
  const value = fc.oneof(
    fc.constant(undefined),
    fc.record({ stringValue: fc.constantFrom('evil', '', 'x"y\\', 'tenant_id') }),
    fc.record({ intValue: fc.constantFrom('0', '77') }),
    fc
      .array(fc.record({ key, value: fc.constant({ stringValue: 'evil' }) }), { maxLength: 3 })
      .map(values => ({ kvlistValue: { values } })),
  )
  const attributes = fc.array(fc.record({ key, value }), { maxLength: 5 })
  const resource = fc.record(
    {
      resource: fc.record({ attributes }, { requiredKeys: [] }),
      scopeLogs: fc.array(
        fc.record({
          logRecords: fc.array(fc.record({ timeUnixNano: fc.constant('7'), attributes }, { requiredKeys: ['timeUnixNano'] }), {
            maxLength: 3,
          }),
        }),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  )
  it('is right for generated requests', function () {
    this.timeout(30_000)
    fc.assert(
      fc.property(fc.array(resource, { maxLength: 3 }), fc.constantFrom(undefined, 1), (resourceLogs, space) => {
        checkJson(JSON.stringify({ resourceLogs }, undefined, space))
        checkProtobuf(encodeMessage('ExportLogsServiceRequest', { resourceLogs }))
      }),
      { numRuns: rounds(300) },
    )
  })
})
