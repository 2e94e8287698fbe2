import { expect } from 'chai'
import { after, before } from 'mocha'
import type { SearchServerConfig } from '../search-server.ts'
import { startTestStore, type TestStore } from './test-store.ts'

/** The store of a suite: started before its tests, stopped after them, when it must have logged nothing. */
export function useTestStore(options?: Partial<SearchServerConfig>): TestStore {
  let started: TestStore
  before(async () => {
    started = await startTestStore(options)
  })
  after(async () => {
    const { logged } = started
    await started.stop()
    expect(logged).to.deep.equal([])
  })
  return {
    get url() {
      return started.url
    },
    get client() {
      return started.client
    },
    get logged() {
      return started.logged
    },
    request: (...call) => started.request(...call),
    restart: () => started.restart(),
    stop: () => started.stop(),
  }
}
