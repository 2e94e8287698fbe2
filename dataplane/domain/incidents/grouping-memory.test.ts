import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Anomaly } from '../anomalies/anomaly.ts'
import { AffectedServices } from './affected-services.ts'
import { createGroupingMemory, type KnownIncident } from './grouping-memory.ts'

const anomaly = (id: string, tenant_id = 'shop', service = 'cart'): Anomaly => ({
  ...{ id, log_id: `l${id}`, document_id: `d${id}`, timestamp: '2026-11-21T12:00:00.000Z', tenant_id, service },
  ...{ level: 'ERROR', message: 'm', pattern_id: 'p1', pattern: 'm', score: 0.55, anomaly_score: 0, detectors: ['rule'], reasons: [] },
})
const incident = (id: string): KnownIncident => ({
  ...{ id, services: new AffectedServices(['cart']), severity: 'low', score: 0.5, hasFatal: false },
  ...{ firstSeenMs: 0, lastSeenMs: 0, lastAsSevereMs: 0 },
})

describe('what grouping keeps', () => {
  it('is the last 50 anomalies of a service, in the order of their arrival', () => {
    const memory = createGroupingMemory()
    for (let at = 0; at < 52; at++) memory.place(anomaly(`a${at}`))
    const kept = memory.find('shop', 'cart')!.members.map(member => member.anomaly.id)
    expect([kept.length, kept[0], kept.at(-1)]).to.deep.equal([50, 'a2', 'a51'])
    memory.drop(anomaly('a2'))
    expect(memory.find('shop', 'cart')!.members[0]!.anomaly.id).to.equal('a3')
  })

  it('is the last 20 incidents of a service, each once', () => {
    const memory = createGroupingMemory()
    for (let at = 0; at < 21; at++) memory.keepIncident('shop', 'cart', incident(`i${at}`))
    memory.keepIncident('shop', 'cart', incident('i1'))
    const kept = memory.find('shop', 'cart')!.incidents.map(({ id }) => id)
    expect([kept.length, kept[0], kept.at(-1)]).to.deep.equal([20, 'i2', 'i1'])
  })

  it('is of each tenant alone', () => {
    const memory = createGroupingMemory()
    memory.place(anomaly('a', 'shop'))
    memory.drop(anomaly('a', 'bank'))
    expect([memory.find('shop', 'cart')?.members.length, memory.find('bank', 'cart')]).to.deep.equal([1, undefined])
  })

  it('is of 50,000 tenants: the one longest untouched is forgotten', () => {
    const memory = createGroupingMemory()
    for (let at = 0; at < 50_000; at++) memory.place(anomaly('a', `t${at}`))
    memory.place(anomaly('b', 't0'))
    memory.place(anomaly('a', 'one more'))
    expect([memory.find('t0', 'cart') !== undefined, memory.find('t1', 'cart')]).to.deep.equal([true, undefined])
  })
})
