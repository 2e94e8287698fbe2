import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { postJson } from './post-json.ts'

async function withServer<T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

describe('posting JSON to a busy server', () => {
  it('tries again where the connection is cut, and where the server asks for patience', async () => {
    let calls = 0
    const text = await withServer(
      (request, response) => {
        calls++
        if (calls === 1) request.socket.destroy()
        else response.writeHead(calls === 2 ? 503 : 200).end('taken')
      },
      url => postJson(url, '{}', { waitMs: 1 }),
    )
    expect([calls, text]).to.deep.equal([3, 'taken'])
  })

  it('gives up with the reason', async () => {
    const failed = (listener: RequestListener) =>
      withServer(listener, url => postJson(url, '{}', { waitMs: 1 })).then(
        () => 'no error',
        error => (error as Error).message,
      )
    expect(await failed((_, response) => response.writeHead(400).end('no such field'))).to.match(/\/v1\/logs answered 400: no such field$/)
    expect(await failed(({ socket }) => socket.destroy())).to.match(/\/v1\/logs did not answer 8 times: .{3}/)
  })
})
