import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { eventually } from '../../dataplane/kube/testing/eventually.ts'
import { configMap } from '../../dataplane/kube/testing/resources.ts'
import { startTestCluster, type TestCluster } from '../../dataplane/kube/testing/test-cluster.ts'
import { SILENT } from '../../dataplane/telemetry/log.ts'
import type { Transition } from './event-object.ts'
import { createEventRecorder, EVENTS, type EventRecorder } from './event-recorder.ts'

const READY: Transition = { type: 'Normal', reason: 'Ready', action: 'Reconcile', note: 'all is well' }

describe('Event recorder', () => {
  let cluster: TestCluster
  let recorder: EventRecorder
  let dropped: number
  const about: KubernetesObject = { ...configMap('shop'), metadata: { name: 'shop', namespace: 'shop', uid: 'u1' } }

  beforeEach(async () => {
    cluster = await startTestCluster([EVENTS])
    dropped = 0
    const { client, clock } = cluster
    const onDropped = () => void dropped++
    recorder = createEventRecorder({ controller: 'logpipeline.dev/operator', instance: 'pod-1' }, { client, clock, log: SILENT, onDropped })
  })
  afterEach(() => cluster.stop())

  const written = () => cluster.server.storage.list('events.events.k8s.io')

  it('writes what became so about an object, where kubectl describe finds it', async () => {
    recorder.record(about, READY)
    await recorder.stop()
    expect(written()).to.have.length(1)
    expect(written()[0]).to.deep.include({
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'logpipeline.dev/operator',
      reportingInstance: 'pod-1',
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', namespace: 'shop', uid: 'u1' },
      ...READY,
    })
  })

  it('does not repeat itself within ten minutes', async () => {
    recorder.record(about, READY)
    recorder.record(about, READY)
    await cluster.settle()
    cluster.clock.advance(599_999)
    recorder.record(about, READY)
    // By the clock that nobody sets.
    cluster.clock.shiftTimeOfDay(-3_600_000)
    cluster.clock.advance(600_000)
    recorder.record(about, READY)
    recorder.record(about, { ...READY, note: 'another' })
    await recorder.stop()
    expect(written()).to.have.length(3)
  })

  it('tells of what comes and goes for hours each ten minutes at least: the event of the first time would be gone from the cluster', async () => {
    for (let minutes = 0; minutes <= 60; minutes += 5) {
      recorder.record(about, READY)
      await eventually('it is written', () => written().length === Math.floor(minutes / 10) + 1)
      cluster.clock.advance(5 * 60_000)
    }
    await recorder.stop()
    expect(written()).to.have.length(7)
  })

  it('drops the oldest when there are too many, and cuts notes that are too long', async () => {
    cluster.server.fault({}, { kind: 'silence' })
    for (let n = 0; n < 250; n++) recorder.record(about, { ...READY, note: `${n} ${'x'.repeat(2000)}` })
    expect(dropped).to.equal(49)
    await eventually('the first is under way', () => cluster.server.requests.length === 1)
    cluster.clock.advance(30_000)
    await recorder.stop()
    expect(Buffer.byteLength(String(written()[0]?.['note']))).to.equal(1024)
  })

  it('writes those of other namespaces while those of one hang, and drops of that one first', async () => {
    cluster.server.fault({ verb: 'create', namespace: 'hangs' }, { kind: 'silence' }, Number.POSITIVE_INFINITY)
    const hanging = { ...about, metadata: { name: 'shop', namespace: 'hangs', uid: 'u2' } }
    recorder.record(about, { ...READY, note: 'first' })
    for (let n = 0; n < 250; n++) recorder.record(hanging, { ...READY, note: `${n}` })
    for (const note of ['second', 'third']) recorder.record(about, { ...READY, note })
    await eventually('they are there', () => written().length === 3)
    expect(written().map(({ note }) => note)).to.deep.equal(['first', 'second', 'third'])
    const stopped = recorder.stop()
    cluster.clock.advance(2000)
    await stopped
  })

  it('cuts notes between characters, at the bytes that the API server counts', async () => {
    recorder.record(about, { ...READY, note: '\ud83d\ude00'.repeat(600) })
    await recorder.stop()
    expect(written()[0]?.['note']).to.equal(`${'\ud83d\ude00'.repeat(255)}…`)
  })

  it('loses an event rather than waiting when the API server refuses it', async () => {
    cluster.server.deny({ verb: 'create' })
    recorder.record(about, READY)
    await recorder.stop()
    expect(dropped).to.equal(1)
  })

  it('waits no longer than two seconds at the end', async () => {
    cluster.server.fault({}, { kind: 'silence' })
    recorder.record(about, READY)
    const stopped = recorder.stop()
    cluster.clock.advance(2000)
    await stopped
  })
})
