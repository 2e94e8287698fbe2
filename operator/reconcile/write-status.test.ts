import { expect } from 'chai'
import { hasStatus } from './write-status.ts'

describe('whether an object has a status already', () => {
  const condition = (type: string, status = 'True') => ({ type, status, reason: 'AsExpected', message: '' })
  const object = (status: object) => ({ apiVersion: 'logpipeline.dev/v1', kind: 'LogPipeline', metadata: { name: 'shop' }, status })
  const told = { phase: 'Running', conditions: [condition('Ready'), condition('AutoscalingReady'), condition('BusReady')] }

  it('does not go by the order of conditions: one that came later is kept at the end', () => {
    const kept = { conditions: [condition('Ready'), condition('BusReady'), condition('AutoscalingReady')], phase: 'Running' }
    expect(hasStatus(object(kept), told)).to.equal(true)
  })

  it('goes by what conditions say, and by which there are', () => {
    const changed = [condition('Ready'), condition('BusReady', 'False'), condition('AutoscalingReady')]
    expect(hasStatus(object({ ...told, conditions: changed }), told)).to.equal(false)
    expect(hasStatus(object({ ...told, conditions: told.conditions.slice(1) }), told)).to.equal(false)
    expect(hasStatus(object({ ...told, conditions: 'none' }), told)).to.equal(false)
  })

  it('takes a map without members for none', () => {
    expect(hasStatus(object(told), { ...told, components: {} })).to.equal(true)
  })
})
