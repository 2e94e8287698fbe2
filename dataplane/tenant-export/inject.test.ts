import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { canonicalFields } from '../domain/records/canonical-fields.ts'
import { flattenAttributes, flattenKey } from '../domain/records/flatten.ts'
import { acceptJson } from '../otlp/accept-json.ts'
import { cutFragments, joinFragments } from '../otlp/fragments.ts'
import type { KeyValue } from '../otlp/payload.ts'
import { encodeMessage } from '../otlp/testing/logs-proto.ts'
import { transcodeProtobuf } from '../otlp/transcode-protobuf.ts'
import type { Transport } from '../otlp-intake/local-collector.ts'
import { rounds } from '../testing/rounds.ts'
import { DROPPED_BY_DASHBOARD, DROPPED_BY_GATEWAY } from './attribute-names.ts'
import { injectJson } from './inject-json.ts'
import { injectProtobuf } from './inject-protobuf.ts'
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
  return injected.toString()
}

function checkProtobuf(wire: Buffer): void {
  checkLocal('http_protobuf', wire)
  const layout = transcodeProtobuf(injectProtobuf(wire, AS_GATEWAY), OPTIONS)
  readAs(layout, JSON.parse(Buffer.from(layout.text).toString()))
}

/** As in a standalone: the tenant goes in where the collector has found the parts. */
function checkLocal(transport: Transport, body: Buffer): void {
  const { body: changed, owner, arrange = layout => layout } = localExport({ transport, body, source: {} }, AS_GATEWAY)
  const layout = transport === 'http_json' ? arrange(acceptJson(changed, OPTIONS)) : transcodeProtobuf(changed, { ...OPTIONS, owner })
  for (const maxBytes of [1 << 20, 500]) {
    const { fragments, rejectedRecords } = cutFragments(layout, maxBytes)
    if (maxBytes > 500) expect(rejectedRecords).to.equal(0)
    for (const fragment of fragments) readAs(layout, JSON.parse(Buffer.from(joinFragments([fragment])).toString()))
  }
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
    expect(wire.equals(encodeMessage('ExportLogsServiceRequest', withResource(text('batch_id', 'b'), MINE)))).to.equal(true)
  })

  it('of two tenants that send the same bytes by turns is of each its own', () => {
    const wire = encodeMessage('ExportLogsServiceRequest', withResource(text('service.name', 'cart'), text('tenant_id')))
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) {
      const { body, owner } = localExport({ transport: 'grpc', body: wire, source: {} }, { tenant, dropped: DROPPED_BY_GATEWAY })
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
      const { body, owner } = localExport({ transport: 'http_protobuf', body: wire, source: {} }, { tenant: 'acme', dropped })
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
