import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readAuditLog } from './audit-log.ts'
import { pipelineName, pipelineOf } from './pipelines.ts'
import { countRequests, lastObjectWrites } from './requests.ts'

const line = (verb: string, objectRef: object, second = 0, more: object = {}) =>
  `${JSON.stringify({
    stage: 'ResponseComplete',
    verb,
    objectRef,
    requestURI: '/x',
    requestReceivedTimestamp: `2026-01-01T00:00:0${second}.000000Z`,
    stageTimestamp: `2026-01-01T00:00:0${second}.250000Z`,
    responseStatus: { code: 200 },
    ...more,
  })}\n`

const service = { resource: 'services', namespace: 'a', name: 'p00001-bridge' }

describe('Requests of the operator, by the audit log', () => {
  it('are read once, whole lines only', () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-'))
    try {
      const file = join(directory, 'audit.log')
      const log = readAuditLog(file)
      expect(log.take()).to.deep.equal([])
      const second = line('patch', { ...service, name: 'é' })
      appendFileSync(file, line('patch', service) + second.slice(0, 40))
      expect(log.take()).to.deep.equal([
        { verb: 'patch', resource: 'services', namespace: 'a', name: 'p00001-bridge', status: 200, atMs: 1767225600250, durationMs: 250 },
      ])
      appendFileSync(file, second.slice(40))
      expect(log.take().map(({ name }) => name)).to.deep.equal(['é'])
      expect(log.take()).to.deep.equal([])
      appendFileSync(file, line('watch', { resource: 'pods' }, 1, { stage: 'ResponseStarted' }) + line('watch', { resource: 'pods' }, 2))
      expect(
        log.take().map(({ verb }) => verb),
        'a watch counts when it begins',
      ).to.deep.equal(['watch'])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('are writes of objects, of status, of events, of leases, or reads', () => {
    const request = (verb: string, resource: string, name: string, atMs: number) => ({
      ...{ verb, resource, name, namespace: 'a', status: 200, atMs, durationMs: atMs },
    })
    const requests = [
      request('patch', 'services', 'p00001-bridge', 1),
      request('patch', 'services', 'p00001-bridge', 5),
      request('delete', 'configmaps', 'p00001', 3),
      request('patch', 'logpipelines/status', 'p00001', 9),
      request('create', 'events', 'p00001.1a', 9),
      request('update', 'leases', 'logpipeline-operator', 9),
      request('list', 'pods', '', 9),
    ]
    const counts = countRequests(requests)
    expect(counts).to.deep.include({
      objectWrites: 3,
      objectsWritten: 2,
      statusWrites: 1,
      eventWrites: 1,
      leaseWrites: 1,
      reads: 1,
      failed: 0,
    })
    expect(counts.byKind).to.deep.include({ 'patch services': 2, 'list pods': 1 })
    expect([...lastObjectWrites(requests)]).to.deep.equal([['p00001', 5]])
  })

  it('belong to the pipeline whose name their object begins with', () => {
    expect([pipelineName(7), `${pipelineName(7)}-agent`, `${pipelineName(7)}.1a2b`].map(pipelineOf)).to.deep.equal([
      'p00007',
      'p00007',
      'p00007',
    ])
    expect(['logpipeline-operator', 'p000070', undefined].map(pipelineOf)).to.deep.equal([undefined, undefined, undefined])
  })
})
