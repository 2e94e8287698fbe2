import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { countDocuments, postRecords } from './testing/api.ts'
import { eventually, PROGRAM, startStandalone } from './testing/standalone-process.ts'

/** Some 100 are open once it has started. */
const FILES = 160
const CONNECTIONS_TO_EACH = 400

/** The program, with as many files as it may open. */
function launcherWithFewFiles(directory: string): string {
  const path = join(directory, 'logpipeline')
  writeFileSync(path, `#!/bin/sh\nulimit -n ${FILES}\nexec '${PROGRAM}' "$@"\n`, { mode: 0o755 })
  return path
}

/** Connections that send the head of a request, and nothing more. */
function hold(url: string): readonly Socket[] {
  const { hostname: host, port } = new URL(url)
  return Array.from({ length: CONNECTIONS_TO_EACH }, () => {
    const socket = connect({ host, port: Number(port) })
    socket.on('error', () => undefined)
    socket.write('POST /v1/logs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{')
    return socket
  })
}

describe('a process that may open few files', () => {
  it('goes on while one sender holds more connections than that, at every door, and forgets no record', async function () {
    this.timeout(120_000)
    const directory = mkdtempSync(join(tmpdir(), 'logpipeline-few-files-'))
    const app = await startStandalone({}, { program: launcherWithFewFiles(directory) })
    const { pid } = app
    const held: Socket[] = []
    try {
      for (const door of [app.collector, app.gateway, app.dashboard, `http://${app.grpc}`]) held.push(...hold(door))
      await eventually(async () => expect(held.filter(({ closed }) => closed).length).to.be.greaterThan(held.length / 2))
      for (const control of [app.bridge, app.ticketing, app.features])
        expect((await fetch(`${control}/health`)).status, control).to.equal(200)
      for (const socket of held) socket.destroy()
      const record = { id: 'kept', service: 'orders', severityText: 'INFO', body: 'taken', attempt: 0, timeUnixNano: `${Date.now()}000000` }
      await eventually(async () => expect(await postRecords(app.collector, [record])).to.equal(200))
      await eventually(async () => expect(await countDocuments(app.search, 'service-logs-*')).to.equal(1), { timeoutMs: 30_000 })
      expect(app.pid).to.equal(pid)
      expect(() => process.kill(pid, 0)).to.not.throw()
    } finally {
      for (const socket of held) socket.destroy()
      await app.remove()
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
