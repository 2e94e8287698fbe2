import { once } from 'node:events'
import { cachedDataVersionTag } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { growthIsSet, letHeapsGrow, RUNNING_GROWTH_PERCENT } from './heap-growth.ts'

const ASK = `
  import { parentPort } from 'node:worker_threads'
  import { growthIsSet } from ${JSON.stringify(new URL('./heap-growth.ts', import.meta.url).href)}
  parentPort.postMessage(growthIsSet())`

describe('the growth of heaps', () => {
  afterEach(() => letHeapsGrow(0))

  it('counts for compiled code while it is set, and no longer', () => {
    const atStart = cachedDataVersionTag()
    letHeapsGrow(RUNNING_GROWTH_PERCENT)
    expect([growthIsSet(), cachedDataVersionTag() === atStart]).to.deep.equal([true, false])
    letHeapsGrow(0)
    expect([growthIsSet(), cachedDataVersionTag() === atStart]).to.deep.equal([false, true])
  })

  it('is known to threads that start later', async () => {
    const ask = async () => (await once(new Worker(new URL(`data:text/javascript,${encodeURIComponent(ASK)}`)), 'message'))[0] as boolean
    letHeapsGrow(RUNNING_GROWTH_PERCENT)
    expect(await ask()).to.equal(true)
    letHeapsGrow(0)
    expect(await ask()).to.equal(false)
  })
})
