import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createRestServer } from './rest-server.ts'
import type { Deps } from './route.ts'

describe('the HTTP server of the store', () => {
  it('keeps an idle connection for ten seconds longer than it says, for clients that are late themselves', () => {
    const server = createRestServer({ routes: [], deps: {} as Deps, maxBulkBytes: 1, maxHeldBytes: 1, onError: () => undefined })
    expect([server.keepAliveTimeout, server.keepAliveTimeoutBuffer]).to.deep.equal([60_000, 10_000])
  })
})
