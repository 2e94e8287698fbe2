import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type SearchStore, SearchStoreUnavailable } from '../../ports/search-store.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { withKeptTemplates } from './kept-templates.ts'

describe('index templates of a store that comes and goes', () => {
  let clock: FakeClock
  let stop: AbortController
  let calls: string[]
  let failure: Error | undefined
  let store: SearchStore
  beforeEach(() => {
    clock = createFakeClock()
    stop = new AbortController()
    calls = []
    failure = undefined
    const call = (name: string) => async () => {
      calls.push(name)
      if (failure !== undefined) throw failure
      return []
    }
    const bare = { bulk: call('bulk'), put: call('put') } as unknown as SearchStore
    store = withKeptTemplates(bare, { install: async () => void (await call('templates')()), clock, signal: stop.signal })
  })
  afterEach(() => stop.abort())

  const write = (name: 'bulk' | 'put') => (name === 'bulk' ? store.bulk([]) : store.put('i', 'id', {})).catch((error: Error) => error)

  for (const name of ['bulk', 'put'] as const)
    it(`are put before the first ${name} behind one that the store did not answer: it may have come back empty`, async () => {
      await write(name)
      failure = new SearchStoreUnavailable('gone')
      await write(name)
      expect(await write(name)).to.equal(failure)
      failure = undefined
      await Promise.all([write(name), write(name)])
      await write(name)
      expect(calls).to.deep.equal([name, name, 'templates', 'templates', name, name, name])
    })

  it('are left as they are by a store that has too much to do', async () => {
    failure = new SearchStoreUnavailable('429', { isBusy: true })
    await write('bulk')
    failure = undefined
    await write('bulk')
    expect(calls).to.deep.equal(['bulk', 'bulk'])
  })

  it('are put each minute, as somebody may have deleted them; where that fails, before the next write', async () => {
    failure = new SearchStoreUnavailable('gone')
    clock.advance(60_000)
    await turn()
    failure = undefined
    await write('bulk')
    await write('bulk')
    clock.advance(60_000)
    await turn()
    expect(calls).to.deep.equal(['templates', 'templates', 'bulk', 'bulk', 'templates'])
  })
})
