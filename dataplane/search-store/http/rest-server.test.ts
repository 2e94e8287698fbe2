import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createRestServer } from './rest-server.ts'
import type { Deps, Route } from './route.ts'

describe('the HTTP server of the store', () => {
  const open = (routes: readonly Route[], onError: (error: unknown) => void = () => undefined) =>
    createRestServer({ routes, deps: {} as Deps, maxBulkBytes: 1, maxHeldBytes: 1, onDamage: () => undefined, onError })

  it('keeps an idle connection for ten seconds longer than it says, for clients that are late themselves', () => {
    const server = open([])
    expect([server.keepAliveTimeout, server.keepAliveTimeoutBuffer]).to.deep.equal([60_000, 10_000])
  })

  it('does nothing that a page of another site asks for', async () => {
    let deletions = 0
    const handle = async () => {
      deletions++
      return { status: 200, body: {} }
    }
    const server = open([
      { method: 'POST', path: '/:index/_delete_by_query', parameters: ['q'], body: 'query', handle } as unknown as Route,
    ])
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const ask = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a/_delete_by_query?q=*`, { method: 'POST', headers })).status
    /** A page under a name that leads here, by Node's client: `fetch` sets these headers itself. */
    const askAs = async (name: string) => {
      const { port } = server.address() as AddressInfo
      const headers = { host: `${name}:${port}`, origin: `http://${name}:${port}`, 'x-forwarded-host': `${name}:${port}` }
      const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/a/_delete_by_query?q=*', headers }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return answer.statusCode
    }
    try {
      expect(await ask({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).to.equal(403)
      expect(await askAs('evil.example')).to.equal(403)
      expect(deletions).to.equal(0)
      expect(await ask({})).to.equal(200)
      expect(await askAs('localhost')).to.equal(200)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  const failures = [
    { name: 'a full disk, as the database says it', error: { code: 'ERR_SQLITE_ERROR', errcode: 13 }, status: 429 },
    { name: 'a full disk, as the system says it', error: { code: 'ENOSPC', syscall: 'write' }, status: 429 },
    { name: 'a quota that is used up', error: { code: 'EDQUOT', syscall: 'write' }, status: 429 },
    { name: 'any other failure', error: { code: 'EIO', syscall: 'write' }, status: 500 },
  ] as const
  for (const { name, error, status } of failures)
    it(`answers ${status} to ${name}`, async () => {
      const logged: unknown[] = []
      const handle = () => Promise.reject(Object.assign(new Error('no room'), error))
      const server = open([{ method: 'GET', path: '/fails', parameters: [], body: 'none', handle } as unknown as Route], failure =>
        logged.push(failure),
      )
      await once(server.listen(0, '127.0.0.1'), 'listening')
      try {
        const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/fails`)
        const body = (await answer.json()) as { readonly error: { readonly type: string; readonly reason: string } }
        expect([answer.status, body.error.type]).to.deep.equal([status, status === 429 ? 'cluster_block_exception' : 'internal_error'])
        if (status === 429) expect(body.error.reason).to.include('disk is full')
        expect(logged).to.have.length(status === 429 ? 0 : 1)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    })
})
