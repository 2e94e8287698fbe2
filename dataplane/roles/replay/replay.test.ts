import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Clock } from '../../ports/clock.ts'
import { runReplay } from './index.ts'

type Answer = (body: string, response: ServerResponse, request: IncomingMessage) => void

const accept: Answer = (_body, response) => response.end('{"partialSuccess":{}}')

function line(...times: readonly (string | number)[]): string {
  const logRecords = times.map(timeUnixNano => ({ timeUnixNano, body: { stringValue: 'say "timeUnixNano":"5"' } }))
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
}

describe('logpipeline replay', () => {
  let directory: string
  let server: Server
  let answer: Answer
  let bodies: string[]
  let slept: number[]
  let nowMs: number
  let passedMs: number
  let stdout: string
  let stderr: string

  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => passedMs,
    async sleep(ms) {
      slept.push(ms)
      nowMs += ms
      passedMs += ms
    },
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'replay-'))
    answer = accept
    bodies = []
    slept = []
    nowMs = Date.UTC(2026, 0, 2)
    passedMs = 0
    stdout = ''
    stderr = ''
    server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      bodies.push(body)
      answer(body, response, request)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })

  afterEach(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await rm(directory, { recursive: true })
  })

  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(directory, name)
    await writeFile(path, content)
    return path
  }

  function replay(...args: string[]): Promise<number> {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return runReplay(['--endpoint', endpoint, '--concurrency', '1', ...args], {
      clock,
      stdout: { write: text => (stdout += text) },
      stderr: { write: text => (stderr += text) },
    })
  }

  it('without --endpoint goes to COLLECTOR_ENDPOINT, else to this machine at OTLP_HTTP_PORT', async () => {
    const { port } = server.address() as AddressInfo
    const path = await file('a', line('1'))
    const silent = { write: () => true }
    for (const environment of [{ COLLECTOR_ENDPOINT: `http://127.0.0.1:${port}`, OTLP_HTTP_PORT: '1' }, { OTLP_HTTP_PORT: String(port) }])
      expect(await runReplay([path], { clock, stdout: silent, stderr: silent, environment })).to.equal(0)
    expect(bodies.map(body => body.trim())).to.deep.equal([line('1'), line('1')])
  })

  it('reads no setting where the address is given, or help is asked for', async () => {
    const silent = { write: () => true }
    const wrong = { clock, stdout: silent, stderr: silent, environment: { OTLP_HTTP_PORT: 'no port' } }
    const { port } = server.address() as AddressInfo
    expect(await runReplay(['--help'], wrong)).to.equal(0)
    expect(await runReplay(['--endpoint', `http://127.0.0.1:${port}`, await file('a', line('1'))], wrong)).to.equal(0)
  })

  it('sends plain and gzip files, told apart by content, line by line and unchanged', async () => {
    const lines = [line('1', '2'), line('3'), line('4')]
    const plain = await file('plain.gz', `${lines[0]}\n\n${lines[1]}\r\n`)
    const zipped = await file('zipped.ndjson', Buffer.concat([gzipSync(`${lines[2]}\n`), gzipSync(lines[0]!)]))
    expect(await replay(plain, zipped)).to.equal(0)
    expect(bodies.map(body => body.trim())).to.deep.equal([lines[0], lines[1], lines[2], lines[0]])
    expect(stdout).to.match(/records accepted +6\nrequests +4\n/)
  })

  it('shifts all times so that the newest record of all files is now, exact to the nanosecond', async () => {
    const older = await file('a', line('1674982208964574357', '1674982208964574358', '0'))
    const newer = await file('b', gzipSync(line('1674982209000000001').replace('"1674982209000000001"', '1674982209000000001')))
    expect(await replay('--shift-to-now', older, newer)).to.equal(0)
    const now = BigInt(Date.UTC(2026, 0, 2)) * 1_000_000n
    expect(bodies).to.deep.equal([line(String(now - 35_425_644n), String(now - 35_425_643n), '0'), line('x').replace('"x"', String(now))])
  })

  it('reports malformed lines with file and line, sends the rest, exits 1', async () => {
    const path = await file('mixed', `${line('1')}\n{"resourceLogs":\n[]\n${line('2')}\n`)
    expect(await replay(path)).to.equal(1)
    expect(bodies).to.have.length(2)
    expect(stderr).to.contain(`${path}:2: not JSON`).and.to.contain(`${path}:3: resourceLogs: expected an array, got nothing`)
    expect(stdout).to.match(/malformed lines +2\n/)
  })

  it('reports a gzip file that ends early and goes on with the next file', async () => {
    const torn = await file('torn', gzipSync(`${line('1')}\n`.repeat(2000)).subarray(0, 150))
    const whole = await file('whole', line('2'))
    expect(await replay(torn, whole)).to.equal(1)
    expect(stderr).to.contain('cannot be read further')
    expect(bodies.at(-1)).to.equal(line('2'))
  })

  it('waits as Retry-After says on 429 and 503, then sends the same request again', async () => {
    const answers = [
      [429, '3'],
      [503, 'Fri, 02 Jan 2026 00:00:10 GMT'],
    ] as const
    answer = (body, response, request) => {
      const [status, retryAfter] = answers[bodies.length - 1] ?? []
      if (status === undefined) return accept(body, response, request)
      response.writeHead(status, { 'retry-after': retryAfter! }).end()
    }
    expect(await replay(await file('a', line('1')))).to.equal(0)
    expect(slept).to.deep.equal([3_000, 7_000])
    expect(bodies).to.deep.equal([line('1'), line('1'), line('1')])
    expect(stdout).to.match(/retries +2\n/)
  })

  it('gives a request up after --retries, with growing waits where the collector names none', async () => {
    answer = (_body, response) => response.writeHead(503).end('{"error":"bus unavailable"}')
    expect(await replay('--retries', '2', await file('a', line('1')))).to.equal(1)
    expect(slept).to.deep.equal([500, 1000])
    expect(stderr).to.match(/^http:.+\/v1\/logs: 503 .+bus unavailable.+; a request is sent again, up to 2 times\n/)
    expect(stderr.match(/sent again/g)).to.have.length(1)
    expect(stderr).to.contain('1 record not accepted: 503 {"error":"bus unavailable"}')
    expect(stdout).to.match(/failed requests +1 \(1 record\)/)
  })

  it('does not repeat a request that was refused for good', async () => {
    answer = (_body, response) => response.writeHead(400).end('bad')
    expect(await replay(await file('a', line('1')))).to.equal(1)
    expect(bodies).to.have.length(1)
  })

  it('counts partial successes, exits 1', async () => {
    answer = (_body, response) => response.end('{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too large"}}')
    expect(await replay(await file('a', line('1', '2', '3')))).to.equal(1)
    expect(stderr).to.contain('2 of 3 records rejected: too large')
    expect(stdout).to.match(/records accepted +1\n(.|\n)*partial successes +1 \(2 records rejected\)/)
  })

  it('keeps to --rate records per second', async () => {
    expect(await replay('--rate', '4', await file('a', `${line('1', '2')}\n${line('3')}\n${line('4')}`))).to.equal(0)
    expect(slept).to.deep.equal([500, 250])
  })

  it('keeps to --rate, and to the time that it took, when the time of day is set back', async () => {
    answer = (body, response, request) => {
      nowMs -= 3_600_000
      accept(body, response, request)
    }
    expect(await replay('--rate', '1', await file('a', `${line('1', '2')}\n${line('3')}`))).to.equal(0)
    expect(slept).to.deep.equal([2_000])
    expect(stdout).to.match(/^time +2\.0 s$/m)
  })

  it('sends the given headers', async () => {
    const keys: unknown[] = []
    answer = (body, response, request) => {
      keys.push(request.headers['x-service-api-key'], request.url)
      accept(body, response, request)
    }
    expect(await replay('--header', 'x-service-api-key=a=b', await file('a', line('1')))).to.equal(0)
    expect(keys).to.deep.equal(['a=b', '/v1/logs'])
  })

  it('names every problem of the command line, exits 64', async () => {
    expect(await replay('--rate', 'fast', '--header', 'x', '--concurrency', '0', '-', '--shift-to-now')).to.equal(64)
    expect(stderr.split('\n').map(text => text.split(':')[1]?.trim())).to.deep.equal([
      '--rate',
      '--concurrency',
      '--header',
      '--shift-to-now reads its input twice',
      undefined,
    ])
    expect(await replay(join(directory, 'missing'))).to.equal(64)
    expect(stderr).to.contain('missing: no such file')
  })
})
